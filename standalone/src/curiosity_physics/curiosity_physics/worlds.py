# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


"""The ground, rocks and sky around the rover, made from a seed: metres, z up."""

from __future__ import annotations

from dataclasses import dataclass, field
import math

from curiosity_stand_in.robot import Floats, Vector
import mujoco
import numpy as np

GRAVITY = -3.711  # m/s2, Mars
SUN: Vector = (-0.5, 0.1, -0.9)
SKY: Vector = (0.9, 0.753, 0.66)
SIZE_M, CELL_M = 60.0, 0.15  # of the relief
RELIEF_M = 0.55  # standard deviation of its heights
ROCKS = 30
SMALLEST_M, LARGEST_M = 0.14, 1.2  # across
NEAREST_M, FARTHEST_M = 4.5, 22.0  # from the start
LANE_HALF_M, LANE_M = 2.2, 16.0  # without rocks, ahead and behind the start
WORLD_GROUP, RELIEF_GROUP = 0, 2
TEXELS, TEXTURE_M = 512, 6.0


@dataclass(frozen=True)
class Rock:
    """``width`` is across, ``height`` above the ground under it."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class World:
    """``heights``: of the relief, rows along y from -SIZE_M/2, columns along x; None: a plane."""

    rocks: tuple[Rock, ...] = ()
    heights: Floats | None = None
    seed: int = 0
    _rng: np.random.Generator = field(default_factory=np.random.default_rng, compare=False)

    def height(self, x: float, y: float) -> float:
        """Of the ground without rocks."""
        return float(self._heights_at(np.array([x]), np.array([y]))[0])

    def _heights_at(self, x: Floats, y: Floats) -> Floats:
        """Bilinear between the points of the relief."""
        if self.heights is None:
            return np.zeros_like(x)
        rows, columns = self.heights.shape
        row = np.clip((y + SIZE_M / 2) / SIZE_M * (rows - 1), 0.0, rows - 1.001)
        column = np.clip((x + SIZE_M / 2) / SIZE_M * (columns - 1), 0.0, columns - 1.001)
        i, j = row.astype(int), column.astype(int)
        u, v = row - i, column - j
        low = self.heights[i, j] * (1 - v) + self.heights[i, j + 1] * v
        high = self.heights[i + 1, j] * (1 - v) + self.heights[i + 1, j + 1] * v
        return np.asarray(low * (1 - u) + high * u)

    def ranges(self, place: Floats, rays: Floats, farthest_m: float) -> Floats:
        """The distance along each unit vector of ``rays`` to the relief; inf without one.

        Ten times as fast as MuJoCo's own rays, which test each cell on their way.
        """
        away = np.arange(CELL_M, farthest_m, CELL_M)
        x, y, z = (place[axis] + rays[:, axis, None] * away for axis in range(3))
        over = z - self._heights_at(x.ravel(), y.ravel()).reshape(z.shape)
        hit = np.argmax(over < 0.0, axis=1)
        every = np.arange(len(rays))
        before, after = over[every, np.maximum(hit - 1, 0)], over[every, hit]
        part = before / np.where(before > after, before - after, 1.0)
        found = np.where(hit > 0, away[hit] - CELL_M * (1.0 - part), away[0])
        return np.where((over < 0.0).any(axis=1), found, np.inf)


def make(kind: str, seed: int, *, rock_ahead_m: float = 0.0, rock_width_m: float = 0.65) -> World:
    """``rock_ahead_m``: also a rock in the way of the left wheels; 0: none."""
    rng = np.random.default_rng(seed)
    heights = _relief(rng) if kind == 'relief' else None
    rocks = [] if kind == 'flat' else _rocks(rng)
    if rock_ahead_m:
        rocks.append(Rock(rock_ahead_m, 1.1, rock_width_m, 0.5 * rock_width_m))
    return World(tuple(rocks), heights, seed)


def _relief(rng: np.random.Generator) -> Floats:
    """Smooth hills; level for a few metres around the start."""
    cells = round(SIZE_M / CELL_M)
    rough = noise(rng, cells, slope=4.0) * RELIEF_M + noise(rng, cells, slope=2.6) * 0.04
    axis = np.linspace(-SIZE_M / 2, SIZE_M / 2, cells)
    away = np.hypot(*np.meshgrid(axis, axis))
    middle = rough[cells // 2, cells // 2]
    share = np.clip((away - 2.0) / 4.0, 0.0, 1.0)
    return (rough - middle) * share * share * (3 - 2 * share)


def noise(rng: np.random.Generator, cells: int, *, slope: float) -> Floats:
    """Tiling noise with a spectrum of 1/f^slope in power, mean 0 and standard deviation 1."""
    frequency = np.hypot(np.fft.fftfreq(cells)[:, None], np.fft.rfftfreq(cells)[None, :])
    frequency[0, 0] = np.inf
    white = np.fft.rfft2(rng.standard_normal((cells, cells)))
    pattern = np.fft.irfft2(white / frequency ** (slope / 2), s=(cells, cells))
    return np.asarray(pattern / pattern.std())


def _rocks(rng: np.random.Generator) -> list[Rock]:
    rocks: list[Rock] = []
    while len(rocks) < ROCKS:
        away = math.sqrt(rng.uniform(NEAREST_M**2, FARTHEST_M**2))
        bearing = rng.uniform(-math.pi, math.pi)
        width = SMALLEST_M + (LARGEST_M - SMALLEST_M) * rng.uniform() ** 2.5
        x, y = away * math.cos(bearing), away * math.sin(bearing)
        in_lane = abs(y) < LANE_HALF_M + width / 2 and abs(x) < LANE_M
        clear = all(math.hypot(x - r.x, y - r.y) > (width + r.width) / 2 + 0.3 for r in rocks)
        if clear and not in_lane:
            rocks.append(Rock(x, y, width, width * rng.uniform(0.45, 0.75)))
    return rocks


def add(spec: mujoco.MjSpec, world: World) -> None:
    """Add ground, rocks, sky and sun to the model."""
    spec.option.gravity = (0.0, 0.0, GRAVITY)
    spec.visual.rgba.haze = (*SKY, 1.0)
    rng = np.random.default_rng(world.seed + 1)
    _add_materials(spec, rng)
    body = spec.worldbody
    body.add_light(
        name='sun',
        type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL,
        dir=SUN,
        pos=(0.0, 0.0, 10.0),
        castshadow=False,
        diffuse=(0.75, 0.72, 0.68),
        ambient=(0.25, 0.22, 0.2),
        specular=(0.1, 0.1, 0.1),
    )
    solid = {'contype': 2, 'conaffinity': 1, 'friction': (0.3, 0.005, 1e-4)}
    if world.heights is None:
        body.add_geom(
            name='ground', type=mujoco.mjtGeom.mjGEOM_PLANE, size=(0, 0, 0.05),
            material='ground', group=WORLD_GROUP, **solid,
        )  # fmt: skip
    else:
        low, high = float(world.heights.min()), float(world.heights.max())
        rows, columns = world.heights.shape
        spec.add_hfield(
            name='relief', nrow=rows, ncol=columns,
            size=(SIZE_M / 2, SIZE_M / 2, high - low, 1.0),
            userdata=((world.heights - low) / (high - low)).ravel(),
        )  # fmt: skip
        body.add_geom(
            name='ground', type=mujoco.mjtGeom.mjGEOM_HFIELD, hfieldname='relief',
            pos=(0.0, 0.0, low), material='ground', group=RELIEF_GROUP, **solid,
        )  # fmt: skip
    for number, rock in enumerate(world.rocks):
        name = f'rock_{number}'
        spec.add_mesh(name=name, uservert=_rock_vertices(rng, rock).ravel())
        shade = rng.uniform(0.8, 1.1)
        body.add_geom(
            name=name, type=mujoco.mjtGeom.mjGEOM_MESH, meshname=name,
            pos=(rock.x, rock.y, world.height(rock.x, rock.y)),
            rgba=(0.6 * shade, 0.44 * shade, 0.35 * shade, 1.0), group=WORLD_GROUP, **solid,
        )  # fmt: skip


def _rock_vertices(rng: np.random.Generator, rock: Rock) -> Floats:
    """A squashed, uneven ball, a third of it in the ground."""
    directions = rng.standard_normal((40, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    ball = directions * rng.uniform(0.85, 1.0, (40, 1))
    half = rock.height / 1.5
    ball = ball * np.array((rock.width / 2, rock.width / 2 * rng.uniform(0.75, 1.0), half))
    ball[:, 2] += rock.height - half
    return ball


def _add_materials(spec: mujoco.MjSpec, rng: np.random.Generator) -> None:
    grain = 0.7 * noise(rng, TEXELS, slope=1.6) + 0.5 * noise(rng, TEXELS, slope=3.0)
    shade = np.clip(1.0 + 0.07 * grain, 0.6, 1.4)[..., None]
    pixels = np.clip(np.array((176, 118, 84)) * shade, 0, 255).astype(np.uint8)
    texture = spec.add_texture(
        name='ground', type=mujoco.mjtTexture.mjTEXTURE_2D, width=TEXELS, height=TEXELS, nchannel=3
    )
    texture.data = pixels.tobytes()
    spec.add_texture(
        name='sky', type=mujoco.mjtTexture.mjTEXTURE_SKYBOX, width=64, height=64 * 6,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_GRADIENT, rgb1=(0.78, 0.62, 0.52), rgb2=SKY,
    )  # fmt: skip
    ground = spec.add_material(name='ground', texuniform=True, specular=0.0, shininess=0.0)
    ground.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = 'ground'
    ground.texrepeat = (1.0 / TEXTURE_M, 1.0 / TEXTURE_M)
