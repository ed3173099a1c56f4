# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The texts of answers about the ROS graph, in English, Japanese and Chinese. Data.

Only these texts are format strings; a name or a value of the graph is always a value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from curiosity_rosa_demo.agent.topics.graph.reader import GraphPort, mismatched
from curiosity_rosa_demo.domain.cancellation import Cancellation
from curiosity_rosa_demo.domain.graph import GraphSnapshot, TopicInfo
from curiosity_rosa_demo.infra.config.topics import Images

# --- Which name of the graph a question means. Pure --------------------------------------------


MAX_CANDIDATES = 5


class NotFound(Exception):
    """No name fits, or several do: ``candidates``, which may be empty."""

    def __init__(self, asked: str, candidates: Sequence[str]) -> None:
        super().__init__(asked)
        self.asked, self.candidates = asked, tuple(candidates[:MAX_CANDIDATES])


def resolve(asked: str, names: Iterable[str], aliases: Mapping[str, str] | None = None) -> str:
    """The name of ``names`` that ``asked`` means: the same, the same but for the first slash, the
    only one that ends in it, or the only one that contains it. Case does not count. Raises
    NotFound.
    """
    known = list(dict.fromkeys(names))
    asked = (aliases or {}).get(asked.lower(), asked)
    folded = asked.lower().strip('/')
    for fits in (
        lambda name: name == asked,
        lambda name: name.lower().strip('/') == folded,
        lambda name: name.lower().endswith(f'/{folded}'),
        lambda name: folded in name.lower(),
    ):
        found = [name for name in known if fits(name)]
        if len(found) == 1:
            return found[0]
        if found:
            raise NotFound(asked, found)
    raise NotFound(asked, [])


LANGUAGES = ('en', 'ja', 'zh')
_TEXTS: dict[str, tuple[str, str, str]] = {
    'nodes': ('Nodes: {count}', 'ノードは {count} 個です:', '共有 {count} 个节点：'),
    'topics': ('Topics: {count}', 'トピックは {count} 個です:', '共有 {count} 个话题：'),
    'services': (
        'Services, without those for parameters: {count}',
        'サービスは {count} 個です（パラメータ用を除く）:',
        '共有 {count} 个服务（不含参数服务）：',
    ),
    'actions': ('Actions: {count}', 'アクションは {count} 個です:', '共有 {count} 个动作：'),
    'served_by': (
        '{name} [{type}] by {nodes}',
        '{name} [{type}] 提供: {nodes}',
        '{name} [{type}] 提供者：{nodes}',
    ),
    'without_subscribers': (
        'Topics that have publishers but no subscribers: {count}',
        '配信者がいて購読者がいないトピックは {count} 個です:',
        '有发布者但没有订阅者的话题共 {count} 个：',
    ),
    'without_publishers': (
        'Topics that have subscribers but no publishers: {count}',
        '購読者がいて配信者がいないトピックは {count} 個です:',
        '有订阅者但没有发布者的话题共 {count} 个：',
    ),
    'type': (
        '{name} has the type {type}.',
        '{name} の型は {type} です。',
        '{name} 的类型是 {type}。',
    ),
    'publishers': (
        'Publishers of {name} [{type}]: {count}',
        '{name} [{type}] の配信者は {count} 個です:',
        '{name} [{type}] 有 {count} 个发布者：',
    ),
    'subscribers': (
        'Subscribers of {name} [{type}]: {count}',
        '{name} [{type}] の購読者は {count} 個です:',
        '{name} [{type}] 有 {count} 个订阅者：',
    ),
    'publishes': (
        'Topics that {name} publishes: {count}',
        '{name} が配信するトピックは {count} 個です:',
        '{name} 发布 {count} 个话题：',
    ),
    'subscribes': (
        'Topics that {name} subscribes to: {count}',
        '{name} が購読するトピックは {count} 個です:',
        '{name} 订阅 {count} 个话题：',
    ),
    'serves': (
        'Services of {name}: {count}',
        '{name} が提供するサービスは {count} 個です:',
        '{name} 提供 {count} 个服务：',
    ),
    'no_mismatch': (
        'No publisher and subscriber have a mismatched QoS.',
        'QoS が合わない配信者と購読者はありません。',
        '没有 QoS 不匹配的发布者和订阅者。',
    ),
    'mismatches': (
        'Pairs with a mismatched QoS (offered / requested): {count}',
        'QoS が合わない組は {count} 組です（提供 / 要求）:',
        'QoS 不匹配的共 {count} 对（提供 / 请求）：',
    ),
    'parameters': (
        'Parameters of {name}: {count}',
        '{name} のパラメータは {count} 個です:',
        '{name} 有 {count} 个参数：',
    ),
    'parameter': (
        '{parameter} of {name} is {value}.',
        '{name} の {parameter} は {value} です。',
        '{name} 的 {parameter} 是 {value}。',
    ),
    'no_parameter': (
        '{name} has no parameter {parameter}. It has: {known}',
        '{name} にパラメータ {parameter} はありません。あるもの: {known}',
        '{name} 没有参数 {parameter}。已有：{known}',
    ),
    'which_node': (
        'Of which node? Name one of: {known}',
        'どのノードのですか。次から選んでください: {known}',
        '哪个节点？请从中指定：{known}',
    ),
    'which_topic': (
        'Which topic? Name it, for example /scan.',
        'どのトピックですか。/scan のように名前を入れてください。',
        '哪个话题？请写出名称，例如 /scan。',
    ),
    'node_silent': (
        '{name} does not answer questions about its parameters: {why}',
        '{name} はパラメータの問い合わせに応答しません: {why}',
        '{name} 不回答参数查询：{why}',
    ),
    'rate': (
        '{name}: {rate:.1f} Hz ({count} messages in {seconds:.1f} s).',
        '{name}: {rate:.1f} Hz（{seconds:.1f} 秒に {count} 件）。',
        '{name}：{rate:.1f} Hz（{seconds:.1f} 秒内 {count} 条）。',
    ),
    'bandwidth': (
        '{name}: {kilobytes:.1f} kB/s ({count} messages in {seconds:.1f} s, {mean} bytes each).',
        '{name}: {kilobytes:.1f} kB/s（{seconds:.1f} 秒に {count} 件、1 件 {mean} バイト）。',
        '{name}：{kilobytes:.1f} kB/s（{seconds:.1f} 秒内 {count} 条，每条 {mean} 字节）。',
    ),
    'one_message': (
        '{name}: only one message in {seconds:.1f} s; too few for a rate.',
        '{name}: {seconds:.1f} 秒に {count} 件だけで、周期は分かりません。',
        '{name}：{seconds:.1f} 秒内只有 {count} 条，无法得出频率。',
    ),
    'silent': (
        '{name}: no message in {seconds:.1f} s; publishers: {count}.',
        '{name}: {seconds:.1f} 秒間メッセージがありません。配信者は {count} 個です。',
        '{name}：{seconds:.1f} 秒内没有消息；它有 {count} 个发布者。',
    ),
    'unheard': (
        '{name} cannot be listened to: {why}',
        '{name} は受信できません: {why}',
        '{name} 无法接收：{why}',
    ),
    'message': (
        'The newest message of {name}{age}:',
        '{name} の最新のメッセージ{age}:',
        '{name} 的最新消息{age}：',
    ),
    'age': (' ({age:.1f} s old)', '（{age:.1f} 秒前）', '（{age:.1f} 秒前）'),
    'frames': ('Frames: {count}', '座標フレームは {count} 個です:', '共有 {count} 个坐标系：'),
    'frame': (
        '{child} in {parent}, {age:.1f} s old',
        '{parent} の中の {child}、{age:.1f} 秒前',
        '{parent} 中的 {child}，{age:.1f} 秒前',
    ),
    'static_frame': (
        '{child} in {parent}, static',
        '{parent} の中の {child}、静的',
        '{parent} 中的 {child}，静态',
    ),
    'not_found': (
        'The ROS graph has no {asked}.',
        'ROS グラフに {asked} はありません。',
        'ROS 图中没有 {asked}。',
    ),
    'ambiguous': (
        'Which one do you mean by {asked}? {known}',
        '{asked} はどれのことですか。{known}',
        '{asked} 指的是哪一个？{known}',
    ),
    'none': ('(none)', '（なし）', '（无）'),
    'more': ('... and {count} more', '… 他 {count} 件', '…… 还有 {count} 项'),
    'busy': (
        'Other questions about the graph are still being answered. Ask again in a few seconds.',
        '他の問い合わせに回答中です。数秒後にもう一度聞いてください。',
        '正在回答其他问题，请几秒后再问。',
    ),
    'failed': (
        'The ROS graph could not be read: {why}',
        'ROS グラフを読めませんでした: {why}',
        '无法读取 ROS 图：{why}',
    ),
    'unclear': (
        'Ask, for example: which topics have no subscribers? what is the rate of /scan? '
        ':graph takes such '
        'a question.',
        '例:「購読者のいないトピックは?」「/scan の周期は?」。:graph でも聞けます。',
        '例如：“哪些话题没有订阅者？”“/scan 的频率是多少？”。也可以用 :graph 提问。',
    ),
    # --- why there is no picture: the first broken link, and the way out
    'no_camera': (
        'No node publishes the camera topic {topic}. Start the camera or its image bridge, '
        'or set images in '
        'topics.yaml.',
        'カメラのトピック {topic} を配信するノードがありません。カメラか image bridge を起動'
        'するか、'
        'topics.yaml の images を直してください。',
        '没有节点发布相机话题 {topic}。请启动相机或 image bridge，或修改 topics.yaml 的 images。',
    ),
    'other_input': (
        'No node publishes {topic}, but {other} has a publisher. Set images.input to {value} '
        'in topics.yaml.',
        '{topic} の配信者はありませんが、{other} にはあります。topics.yaml の images.input を'
        ' {value} にしてください。',
        '没有节点发布 {topic}，但 {other} 有发布者。请在 topics.yaml 中把 images.input 设为 '
        '{value}。',
    ),
    'camera_type': (
        '{topic} has the type {type}, not {expected}. Set images.input in topics.yaml to the '
        'right one.',
        '{topic} の型は {expected} ではなく {type} です。topics.yaml の images.input を直して'
        'ください。',
        '{topic} 的类型是 {type}，不是 {expected}。请修改 topics.yaml 的 images.input。',
    ),
    'camera_qos': (
        'The QoS of {topic} does not match ({reasons}; offered / requested). Change the '
        'publisher {node}.',
        '{topic} の QoS が合いません（{reasons}、提供 / 要求）。配信者 {node} を直してください。',
        '{topic} 的 QoS 不匹配（{reasons}，提供 / 请求）。请修改发布者 {node}。',
    ),
    'camera_silent': (
        '{node} offers {topic}, but no frame came in {seconds:.1f} s. Look whether the '
        'camera or the simulation '
        'is paused.',
        '{node} は {topic} を提供していますが、{seconds:.1f} 秒間画像が来ません。カメラかシミ'
        'ュレーションが'
        '止まっていないか見てください。',
        '{node} 提供 {topic}，但 {seconds:.1f} 秒内没有图像。请检查相机或仿真是否暂停。',
    ),
    'camera_old': (
        'The frames of {topic} are {age:.1f} s old. Look at the clock (use_sim_time, /clock) '
        'and the network.',
        '{topic} の画像は {age:.1f} 秒前のものです。時刻（use_sim_time、/clock）とネットワー'
        'クを見てください。',
        '{topic} 的图像是 {age:.1f} 秒前的。请检查时钟（use_sim_time、/clock）和网络。',
    ),
    'no_simulator': (
        'The camera works ({topic}), but no node publishes {capture}: the simulator node is '
        'not running. Start it.',
        'カメラは動いています（{topic}）が、{capture} を配信するノードがありません。'
        'simulator ノードを起動してください。',
        '相机正常（{topic}），但没有节点发布 {capture}：simulator 节点没有运行。请启动它。',
    ),
    'no_viewer': (
        'Camera and simulator work, but nobody subscribes to {capture}. Open RViz or the '
        'page, or take a picture '
        'with :cap.',
        'カメラと simulator は動いていますが、{capture} の購読者がいません。RViz かページを開'
        'くか、:cap で撮影してください。',
        '相机和 simulator 正常，但没有节点订阅 {capture}。请打开 RViz 或网页，或用 :cap 拍照。',
    ),
    'picture_ok': (
        'The whole chain works: {node} -> {topic} -> {simulator} -> {capture}. Take a '
        'picture with :cap; a dark one '
        'is a matter of light.',
        '経路はすべて正常です: {node} -> {topic} -> {simulator} -> {capture}。:cap で撮影でき'
        'ます。暗い写真は光の問題です。',
        '整条链路正常：{node} -> {topic} -> {simulator} -> {capture}。可用 :cap 拍照；照片暗'
        '是光线问题。',
    ),
}


def graph_text(key: str, language: str, **values: Any) -> str:
    return _TEXTS[key][LANGUAGES.index(language)].format(**values)


# --- Why there is no picture: the first broken link between the camera and a viewer ------------
# camera publisher -> type -> QoS -> frames and their age -> simulator node -> capture topic -> its
# subscribers.


LISTEN_S = 2.0
OLD_S = 2.0  # a frame with an older stamp is no view of now
TYPES = {'raw': 'sensor_msgs/msg/Image', 'compressed': 'sensor_msgs/msg/CompressedImage'}


def why_no_picture(
    port: GraphPort,
    snapshot: GraphSnapshot,
    images: Images,
    language: str,
    cancellation: Cancellation,
) -> tuple[str, str]:
    """The key of the broken link (``picture_ok``: none) and its text. Raises TurnCancelled."""
    chosen: str = images.input
    other = 'raw' if chosen == 'compressed' else 'compressed'
    names = {'raw': images.input_raw, 'compressed': images.input_compressed}
    topic = snapshot.topic(names[chosen]) or TopicInfo(names[chosen], ())
    capture = images.output_capture_compressed

    def link(key: str, **values: object) -> tuple[str, str]:
        return key, graph_text(key, language, topic=topic.name, **values)

    if not topic.publishers:
        beside = snapshot.topic(names[other])
        if beside is not None and beside.publishers:
            return link('other_input', other=beside.name, value=other)
        return link('no_camera')
    camera = topic.publishers[0]
    if camera.type != TYPES[chosen]:
        return link('camera_type', type=camera.type, expected=TYPES[chosen])
    for each in mismatched(GraphSnapshot(topics=(topic,))):
        return link('camera_qos', reasons='; '.join(each.reasons), node=each.publisher)
    sample = port.listen(topic, LISTEN_S, cancellation, first_only=True)
    if not sample.count:
        return link('camera_silent', node=camera.node, seconds=sample.seconds)
    if sample.stamp_age_s is not None and sample.stamp_age_s > OLD_S:
        return link('camera_old', age=sample.stamp_age_s)
    shown = snapshot.topic(capture)
    if shown is None or not shown.publishers:
        return link('no_simulator', capture=capture)
    # It subscribes to the camera only while it takes a picture or somebody looks.
    simulator = shown.publishers[0].node
    for each in mismatched(GraphSnapshot(topics=(shown,))):
        key, text = link('camera_qos', reasons='; '.join(each.reasons), node=each.publisher)
        return key, text.replace(topic.name, capture)
    if not shown.subscriptions:
        return link('no_viewer', capture=capture)
    return link('picture_ok', node=camera.node, simulator=simulator, capture=capture)
