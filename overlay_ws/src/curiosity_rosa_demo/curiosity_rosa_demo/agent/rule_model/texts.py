# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The rule model's answers to the user, in English, Japanese and Chinese. Pure.

Only the texts of the table are format strings; text from tools and users is always a value.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from curiosity_rosa_demo.domain.geometry import Place
from curiosity_rosa_demo.domain.text import count_text, printable
from curiosity_rosa_demo.trace.reporter import finite_float

LANGUAGES = ('en', 'ja', 'zh')
# The counts of a turn; English texts show them with a noun.
COUNT_NOUNS = {
    'captures': 'capture',
    'moves': 'motion',
    'calls': 'tool call',
    'looks': 'time',
}
_TEXTS: dict[str, tuple[str, str, str]] = {
    'greeting': (
        'Hello. I am the routine of the Curiosity rover. Ask me to "analyze the ground texture", '
        'or say "help".',
        'こんにちは。Curiosity ローバーのルーチンです。'
        '「地面のテクスチャを調査して」や「ヘルプ」と言ってください。',
        '你好。我是 Curiosity 火星车的例程。可以说“分析地面纹理”或“帮助”。',
    ),
    'help': (
        'I can: analyze the ground texture (look, and drive to the light where it is dark); tell '
        'the status; stop; open, close or rotate the mast; take pictures; drive "forward 5 s" or '
        '"2 m", "turn left 90 degrees", "go to x 3 y 0", "go to the light", "return to base"; '
        'wait; and several of these in turn, with "if it is dark" and the like.',
        'できること: 地面のテクスチャの調査（暗ければ明るい所まで走ります）、状態の報告、停止、'
        'マストの展開・収納・旋回、写真の撮影、'
        '「5秒前進」「2 m前進」「左に90度曲がって」「x 3 y 0へ行って」'
        '「基地に戻って」「10秒待って」、'
        'それらの組み合わせと「暗ければ」などの条件。',
        '我可以：分析地面纹理（太暗时会开到亮处）、报告状态、停止、打开/收起/旋转桅杆、拍照、'
        '“前进5秒”“前进2米”“左转90度”“去x 3 y 0”“回基地”“等10秒”，以及把它们连起来、'
        '加上“如果太暗”之类的条件。',
    ),
    'unknown': (
        'I did not understand that: I am a set of rules, not a language model. Say "help" to see '
        'what I can do. For free conversation set llm.provider and llm.model in agent.yaml and '
        'put the key in the environment, such as OPENAI_API_KEY.',
        '理解できませんでした。私は言語モデルではなく、規則の集まりです。'
        'できることは「ヘルプ」で確認できます。'
        '自由に会話するには agent.yaml の llm.provider と llm.model を設定し、OPENAI_API_KEY '
        'などの鍵を環境変数に入れてください。',
        '我没有听懂：我是一组规则，不是语言模型。说“帮助”可以看到我能做什么。'
        '要自由对话，请在 agent.yaml 中设置 llm.provider 和 llm.model，并把密钥放进环境变量，'
        '例如 OPENAI_API_KEY。',
    ),
    'check_condition': (
        'First find out whether it is so: {condition}.',
        'まず条件を確かめます: {condition}。',
        '先确认条件：{condition}。',
    ),
    'find_place': (
        'First find out where that is.',
        'まずその場所を確かめます。',
        '先确认那个位置。',
    ),
    'plan': (
        'I have understood: {steps}. I do it step by step.',
        '次のように理解しました: {steps}。順に実行します。',
        '我的理解是：{steps}。逐步执行。',
    ),
    'orders_done': ('Done: {done}.', '完了: {done}。', '完成：{done}。'),
    'orders_failed': (
        'I could not finish: {what} failed ({reason}). Done before it: {done}.',
        '最後までできませんでした: {what} が失敗しました（{reason}）。それまでに完了: {done}。',
        '未能完成：{what} 失败（{reason}）。在此之前完成：{done}。',
    ),
    'too_far': (
        'I did nothing: "{asked}" is beyond my limit ({limit}). Ask for less, or in parts.',
        '何もしませんでした:「{asked}」は限度（{limit}）を超えています。'
        '小さくするか、分けて指示してください。',
        '我什么也没做：“{asked}”超出了限度（{limit}）。请减小数值或分开说。',
    ),
    'condition_not_met': (
        'The condition does not hold ({condition}), so I leave the rest, as you asked.',
        '条件（{condition}）が成り立たないので、ご指示どおり残りは行いません。',
        '条件（{condition}）不成立，所以按你的要求不做其余的事。',
    ),
    'condition_unknown': (
        'I cannot find out whether it is so: {condition}. I did nothing more.',
        '条件（{condition}）を確かめられません。それ以上は何もしませんでした。',
        '无法确认条件：{condition}。我没有再做什么。',
    ),
    'missing': (
        'I did nothing, because I did not understand all of it. Understood: {understood}. Not '
        'understood: {missing}. I can do, for example: {nearest}. Say "help" for more.',
        '全部は理解できなかったので、何もしませんでした。理解した部分: {understood}。'
        '理解できなかった部分: {missing}。できることの例: {nearest}。'
        '詳しくは「ヘルプ」と言ってください。',
        '因为没有全部听懂，我什么也没做。听懂的部分：{understood}。没听懂的部分：{missing}。'
        '我可以做的例如：{nearest}。说“帮助”可以看到更多。',
    ),
    'nearest': (
        'I can do, for example: {nearest}.',
        'できることの例: {nearest}。',
        '我可以做的例如：{nearest}。',
    ),
    'negated': (
        'Understood: I do nothing.',
        'わかりました。何もしません。',
        '明白：我什么也不做。',
    ),
    'operator': ('{reason}. I do nothing more.', '中止しました: {reason}', '已中止：{reason}'),
    'cannot_stop': (
        'THE ROVER COULD NOT BE STOPPED: move_stop failed ({reason}). It may still be moving: '
        'use the emergency stop.',
        'ローバーを停止できませんでした: move_stop が失敗しました（{reason}）。'
        'まだ動いている可能性があります。非常停止を使ってください。',
        '无法停止火星车：move_stop 失败（{reason}）。它可能还在移动：请使用紧急停止。',
    ),
    'no_tool': (
        'I cannot do that: there is no tool {tool}.',
        'できません: ツール {tool} がありません。',
        '做不到：没有工具 {tool}。',
    ),
    'summary': (
        '{captures}, {moves}, {metres} m driven, last score {score}',
        '撮影 {captures} 回、走行 {moves} 回、{metres} m、最後のスコア {score}',
        '拍摄 {captures} 次，行驶 {moves} 次，共 {metres} 米，最后得分 {score}',
    ),
    'too_long': (
        'I end here: {calls} brought no good picture ({summary}).',
        '終了します: ツールを {calls} 回呼びましたが、良い画像は得られませんでした（{summary}）。',
        '到此为止：调用了 {calls} 次工具仍没有好的图像（{summary}）。',
    ),
    'no_light': (
        'I end here: I have looked where light could be within reach, and there is none '
        '({summary}).',
        '終了します: 届く範囲で明るい可能性のある場所を見ましたが、光はありません（{summary}）。',
        '到此为止：可到达范围内可能有光的地方都看过了，没有光（{summary}）。',
    ),
    'not_moving': (
        'I end here: the rover does not move, although it accepted {moves} ({summary}).',
        '終了します: {moves} 回の走行命令は受け付けられましたが、ローバーが動いていません（'
        '{summary}）。',
        '到此为止：{moves} 次行驶命令被接受，但火星车没有移动（{summary}）。',
    ),
    'refused': (
        'I end here: {tool} was refused: {reason} ({summary}).',
        '終了します: {tool} は拒否されました: {reason}（{summary}）。',
        '到此为止：{tool} 被拒绝：{reason}（{summary}）。',
    ),
    'broken': (
        'I gave up: {part} does not work. {tool} failed, last with: {reason} ({summary}).',
        '断念しました: {part}が機能していません。{tool} が失敗しました。最後の理由: {reason}（'
        '{summary}）。',
        '我放弃了：{part}不工作。{tool} 失败，最后的原因：{reason}（{summary}）。',
    ),
    'found': (
        'The ground can be examined here: score {score}, a good picture, {place}. I looked '
        '{looks} and drove {metres} m in {moves} ({calls}).',
        'ここで地面を調査できます: スコア {score}、良い画像です。場所: {place}。撮影 {looks} '
        '回、走行 {moves} 回で {metres} m 移動しました'
        '（ツール呼び出し {calls} 回）。',
        '这里可以分析地面：得分 {score}，图像良好，位置：{place}。拍摄 {looks} 次，行驶 '
        '{moves} 次共 {metres} 米（调用工具 {calls} 次）。',
    ),
    'not_analyzed': (
        'The light is here, but the ground could not be analyzed: {reason}.',
        '明るい場所は見つかりましたが、地面を分析できませんでした: {reason}。',
        '这里有光，但未能分析地面：{reason}。',
    ),
    'move_stop': ('The rover has been stopped.', 'ローバーを停止しました。', '火星车已停止。'),
    'mast_open': ('The mast is open.', 'マストを展開しました。', '桅杆已打开。'),
    'mast_close': ('The mast is closed.', 'マストを収納しました。', '桅杆已收起。'),
    'mast_rotate': ('The mast has turned once.', 'マストを旋回しました。', '桅杆已旋转。'),
    'get_status': ('', '', ''),
    'capture_good': (
        'Picture taken: score {score}, good.',
        '撮影しました: スコア {score}、良好です。',
        '已拍照：得分 {score}，良好。',
    ),
    'capture_dark': (
        'Picture taken: score {score}, too dark.',
        '撮影しました: スコア {score}、暗すぎます。',
        '已拍照：得分 {score}，太暗。',
    ),
    'moved': (
        'Done: {tool} for {seconds} s, {metres} m driven.',
        '完了: {tool} を {seconds} 秒、{metres} m 走行しました。',
        '完成：{tool} {seconds} 秒，行驶 {metres} 米。',
    ),
    'status': (
        'Status: the mast is {mast}; moving: {moving}; may drive: {allowed}; position {place}; '
        'heading {yaw}; last error: {error}.',
        '状態: マストは{mast}、移動中: {moving}、走行可能: {allowed}、位置 {place}、方位 '
        '{yaw}、最後のエラー: {error}。',
        '状态：桅杆{mast}；正在移动：{moving}；允许行驶：{allowed}；位置 {place}；朝向 {yaw}；'
        '最近的错误：{error}。',
    ),
    'open': ('open', '展開', '已打开'),
    'closed': ('closed', '収納', '已收起'),
    'no_mast': ('not there', 'なし', '没有'),
    'yes': ('yes', 'はい', '是'),
    'no': ('no', 'いいえ', '否'),
    'at_place': (
        'at x = {x:.2f} m, y = {y:.2f} m',
        'x = {x:.2f} m、y = {y:.2f} m',
        'x = {x:.2f} 米，y = {y:.2f} 米',
    ),
    'place_unknown': ('at an unknown place', '不明', '未知'),
    'no_reverse': (
        'how to drive backwards; the rover cannot',
        '後退のしかた（この車は後退できません）',
        '怎么倒车（火星车不能倒车）',
    ),
    'a_number': ('the number', '数', '数字'),
    'what_is_meant': ('what is meant as a whole', '全体の意味', '整句的意思'),
    'examples': (
        '"drive 2 m", "turn left 90 degrees", "take a picture", "go to the light"',
        '「2 m前進して」「左に90度曲がって」「写真を撮って」「明るい所へ行って」',
        '“前进2米”“左转90度”“拍照”“去有光的地方”',
    ),
    'not_known': ('unknown', '不明', '未知'),
    'none': ('none', 'なし', '无'),
    'degrees': ('{value} degrees', '{value} 度', '{value} 度'),
    'camera': ('the camera', 'カメラ', '相机'),
    'position': ("the rover's position (TF)", 'ローバーの位置情報（TF）', '火星车的定位（TF）'),
    'mast': ('the mast', 'マスト', '桅杆'),
    'drive': ('the drive', '走行系', '行驶系统'),
    'telemetry': ('the status of the rover', 'ローバーの状態取得', '火星车的状态查询'),
}


def text_for(key: str, lang: str, **values: Any) -> str:
    """The text ``key`` in ``lang`` (en, ja, zh). Fills ``{summary}`` from ``values``."""
    texts = _TEXTS[key]
    if lang == 'en':
        values = {name: _with_noun(name, value) for name, value in values.items()}
    if '{summary}' in texts[0]:
        values['summary'] = text_for('summary', lang, **values)
    return texts[LANGUAGES.index(lang)].format(**values)


def _with_noun(name: str, value: Any) -> Any:
    is_count = name in COUNT_NOUNS and isinstance(value, int)
    return count_text(value, COUNT_NOUNS[name]) if is_count else value


def broken_text(lang: str, tool: str, reason: str, facts: Mapping[str, Any]) -> str:
    """The answer that names the broken part, derived from the tool and the reason."""
    if tool == 'move_stop':
        return text_for('cannot_stop', lang, reason=reason)
    parts = {'capture_and_score': 'camera', 'get_status': 'telemetry'}
    part = parts.get(tool, 'mast' if tool.startswith('mast_') else 'drive')
    if reason.startswith('TF '):
        part = 'position'
    return text_for('broken', lang, part=text_for(part, lang), tool=tool, reason=reason, **facts)


def found_text(lang: str, pose: Place | None, **values: Any) -> str:
    """The answer after a good capture."""
    place = (
        text_for('at_place', lang, x=pose.x, y=pose.y) if pose else text_for('place_unknown', lang)
    )
    return text_for('found', lang, place=place, looks=values['captures'], **values)


def result_text(lang: str, tool: str, data: Mapping[str, Any]) -> str:
    """The answer to a direct command that succeeded."""
    if tool == 'capture_and_score':
        key = 'capture_good' if data.get('is_good') is True else 'capture_dark'
        return text_for(key, lang, score=f'{finite_float(data.get("score")) or 0.0:.2f}')
    if tool in ('move_forward', 'turn_left', 'turn_right'):
        seconds, metres = (
            _number_text(lang, data.get('duration_s'), 1),
            _number_text(lang, data.get('distance_m')),
        )
        return text_for('moved', lang, tool=tool, seconds=seconds, metres=metres)
    return text_for(tool, lang)


def status_text(lang: str, data: Mapping[str, Any]) -> str:
    """The status as text; a missing value appears as unknown."""

    def choice(value: object, yes: str = 'yes', no: str = 'no') -> str:
        return text_for((yes if value else no) if isinstance(value, bool) else 'not_known', lang)

    x, y, yaw = (finite_float(data.get(key)) for key in ('rover_x', 'rover_y', 'yaw_rad'))
    degrees = None if yaw is None else f'{yaw * 57.29578:.0f}'
    return text_for(
        'status',
        lang,
        mast=text_for('no_mast', lang)
        if data.get('mast') == 'none'
        else choice(data.get('mast_is_open'), 'open', 'closed'),
        moving=choice(data.get('moving')),
        allowed=choice(data.get('move_allowed')),
        place=f'x = {_number_text(lang, x)}, y = {_number_text(lang, y)}',
        yaw=text_for('degrees', lang, value=degrees) if degrees else text_for('not_known', lang),
        error=printable(str(data.get('last_error_reason') or '')) or text_for('none', lang),
    )


def _number_text(lang: str, value: object, digits: int = 2) -> str:
    known = finite_float(value)
    return text_for('not_known', lang) if known is None else f'{known:.{digits}f}'


# --- An analysis of the ground as sentences, in English, Japanese and Chinese. Pure ------------


_CLASSES = {
    'smooth': ('smooth', '滑らか', '平滑'),
    'fine_grained': ('fine-grained', '細かい粒状', '细粒状'),
    'coarse_grained': ('coarse-grained', '粗い粒状', '粗粒状'),
    'rippled': ('rippled', '波状', '波纹状'),
    'jointed': ('flat with joints', '割れ目のある平らな面', '有裂隙的平面'),
}
_SIDES = {'left': ('left', '左', '左'), 'right': ('right', '右', '右')}
_GROUND = (
    'The ground is {name} ({sure} % sure), grain about {grain} cm; {rocks} within {range} m '
    'cover {coverage} % of it; ',
    '地面は{name}（確信度 {sure} %）、粒の大きさは約 {grain} cm です。{range} m 以内の岩は '
    '{rocks} 個で、地面の {coverage} % を占めます。',
    '地面为{name}（把握 {sure} %），颗粒约 {grain} 厘米；{range} 米以内有 {rocks} 块岩石，'
    '占地面的 {coverage} %；',
)
_LARGEST = (
    'the largest is {width} m wide, {distance} m away, {bearing} degrees to the {side}. ',
    '最大の岩は幅 {width} m、距離 {distance} m、{side}へ {bearing} 度です。',
    '最大的宽 {width} 米，距离 {distance} 米，偏{side} {bearing} 度。',
)
_NO_ROCK = ('there is no rock to name. ', '目立つ岩はありません。', '没有明显的岩石。')
_QUALITY = (
    'Sharpness of the picture: {sharpness} of 1.',
    '画像の鮮明さ: {sharpness}（最大 1）。',
    '图像清晰度：{sharpness}（满分 1）。',
)
_ESTIMATE = (
    ' Sizes and distances are estimates: {why}.',
    ' 大きさと距離は推定値です: {why}。',
    ' 尺寸和距离是估计值：{why}。',
)


def ground_text(language: str, data: Mapping[str, Any]) -> str:
    """What the ground is like, with numbers. ``data``: of a successful ``analyze_ground``."""
    at = LANGUAGES.index(language)
    texture, largest = data.get('texture'), data.get('largest_rock')
    texture = texture if isinstance(texture, Mapping) else {}
    count = int(finite_float(data.get('rocks')) or 0)
    noun = f'{count} rock{"" if count == 1 else "s"}' if language == 'en' else str(count)
    name = _CLASSES.get(str(texture.get('name')))
    text = _GROUND[at].format(
        name=name[at] if name else text_for('not_known', language),
        sure=_number(texture.get('confidence'), 0, 100.0),
        grain=_number(texture.get('grain_cm'), 1),
        rocks=noun,
        range=_number(data.get('range_m'), 0),
        coverage=_number(data.get('rock_coverage_pct'), 1),
    )
    if isinstance(largest, Mapping):
        bearing = finite_float(largest.get('bearing_deg')) or 0.0
        text += _LARGEST[at].format(
            width=_number(largest.get('width_m'), 1),
            distance=_number(largest.get('distance_m'), 1),
            bearing=f'{abs(bearing):.0f}',
            side=_SIDES['left' if bearing > 0 else 'right'][at],
        )
    else:
        text += _NO_ROCK[at]
    text += _QUALITY[at].format(sharpness=_number(data.get('sharpness'), 2))
    note = str(data.get('geometry_note') or '')
    return text + (_ESTIMATE[at].format(why=note) if note else '')


def _number(value: object, digits: int, factor: float = 1.0) -> str:
    known = finite_float(value)
    return '?' if known is None else f'{factor * known:.{digits}f}'
