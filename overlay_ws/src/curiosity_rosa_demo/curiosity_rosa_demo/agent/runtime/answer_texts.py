# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The texts of the answers that the agent gives at once, in English, Japanese and Chinese. Data.

Only these texts are format strings; a text from a user, a task or a tool is always a value.
"""

from __future__ import annotations

from typing import Any

LANGUAGES = ('en', 'ja', 'zh')
_TEXTS: dict[str, tuple[str, str, str]] = {
    'position': (
        'I am at x = {x:.2f} m, y = {y:.2f} m, heading {yaw:.0f} degrees.',
        '位置は x = {x:.2f} m、y = {y:.2f} m、方位 {yaw:.0f} 度です。',
        '位置：x = {x:.2f} 米，y = {y:.2f} 米，朝向 {yaw:.0f} 度。',
    ),
    'position_unknown': (
        'My position is unknown: there is no odometry yet.',
        '位置は不明です: オドメトリがまだ届いていません。',
        '位置未知：还没有里程计数据。',
    ),
    'status_unknown': (
        'The status of the rover is unknown: the adapter has not reported yet.',
        'ローバーの状態は不明です: アダプターからまだ報告がありません。',
        '火星车的状态未知：适配器还没有报告。',
    ),
    'old': (
        '(This is {age:.0f} s old: {source} is silent.)',
        '（{age:.0f} 秒前の値です: {source} から届いていません。）',
        '（这是 {age:.0f} 秒前的数据：{source} 没有消息。）',
    ),
    'mode': ('Mode {mode}: {reason}.', 'モード {mode}: {reason}。', '模式 {mode}：{reason}。'),
    'battery': (
        'Battery: {percent:.0f} % ({level}).',
        'バッテリー: {percent:.0f} %（{level}）。',
        '电池：{percent:.0f} %（{level}）。',
    ),
    'battery_unknown': (
        'The battery level is unknown: the rover has not reported it.',
        'バッテリー残量は不明です: ローバーから報告がありません。',
        '电量未知：火星车没有报告。',
    ),
    'mast': ('The mast is {mast}.', 'マストは{mast}です。', '桅杆：{mast}。'),
    'mast_closed': ('closed', '収納済み', '已收起'),
    'mast_opening': ('opening', '展開中', '正在打开'),
    'mast_open': ('open', '展開済み', '已打开'),
    'mast_closing': ('closing', '収納中', '正在收起'),
    'mast_unknown': ('unknown', '不明', '未知'),
    'mast_none': (
        'This robot has no mast.',
        'このロボットにはマストがありません。',
        '这台机器人没有桅杆。',
    ),
    'tasks': (
        'Tasks: {running} running, {waiting} waiting, {held} held.',
        'タスク: 実行中 {running}、待機 {waiting}、保留 {held}。',
        '任务：运行 {running}，等待 {waiting}，搁置 {held}。',
    ),
    'rest_not_done': (
        '{stopped}; the rest is not done: {rest}. Say it again without a stop or a "don\'t".',
        '{stopped}。残りは行っていません: {rest}。'
        '停止や「〜しないで」を除いて、もう一度言ってください。',
        '{stopped}；其余的没有做：{rest}。请不带“停”或“别”再说一遍。',
    ),
    'no_tasks': ('There is no task.', 'タスクはありません。', '没有任务。'),
    'task': ('- {what}: {state}', '- {what}: {state}', '- {what}：{state}'),
    'more': ('- and {count} more', '- ほか {count} 件', '- 另有 {count} 个'),
    'question': (
        'I wait for an answer: {text}',
        '返答を待っています: {text}',
        '我在等待答复：{text}',
    ),
    'picture_good': (
        'The last picture has score {score:.2f}: good. It was taken {age} ago.',
        '最後の写真のスコアは {score:.2f}、良好です。{age} 前に撮影しました。',
        '最后一张照片得分 {score:.2f}：良好。拍摄于 {age} 前。',
    ),
    'picture_dark': (
        'The last picture has score {score:.2f}: too dark. It was taken {age} ago.',
        '最後の写真のスコアは {score:.2f}、暗すぎます。{age} 前に撮影しました。',
        '最后一张照片得分 {score:.2f}：太暗。拍摄于 {age} 前。',
    ),
    'no_picture': (
        'No picture was taken since the start.',
        '起動してから写真は撮っていません。',
        '启动以来没有拍过照片。',
    ),
    'no_good_capture': (
        'The turn ended without a picture whose score passes the threshold.',
        'スコアがしきい値を超える写真は撮れませんでした。',
        '没有拍到得分超过阈值的照片。',
    ),
    'no_plan': ('There is no plan.', '計画はありません。', '没有计划。'),
    'goal': ('The goal is: {goal}', '目標: {goal}', '目标：{goal}'),
    'history': (
        'The last tasks, the newest last; ended motions of the last turn: {metres:.1f} m:',
        '最近のタスク（新しいものが最後。直近のターンで終わった走行は {metres:.1f} m）:',
        '最近的任务（最新的在最后；最近一轮已完成的行驶 {metres:.1f} 米）：',
    ),
    'no_history': (
        'No task has ended yet.',
        '終わったタスクはまだありません。',
        '还没有结束的任务。',
    ),
    'ended': (
        '- {what}: {state} {age} ago{why}',
        '- {what}: {age} 前に {state}{why}',
        '- {what}：{age} 前 {state}{why}',
    ),
    'errors': ('The last errors:', '最近のエラー:', '最近的错误：'),
    'error': ('- {age} ago: {what}', '- {age} 前: {what}', '- {age} 前：{what}'),
    'no_errors': (
        'There was no error since the start.',
        '起動してからエラーはありません。',
        '启动以来没有错误。',
    ),
    'moves': ('The rover is moving.', 'ローバーは動いています。', '火星车正在移动。'),
    'stands': ('The rover stands still.', 'ローバーは止まっています。', '火星车静止。'),
    'motion_unknown': (
        'It is unknown whether the rover moves.',
        'ローバーが動いているかは不明です。',
        '火星车是否在移动未知。',
    ),
    'last_task': ('The last task:', '最後のタスク:', '最近的任务：'),
    'decision': (
        'The last decision: {what}',
        '最後の判断: {what}',
        '最近的决定：{what}',
    ),
    'commands': (
        'Commands: {names}; :help lists all.',
        'コマンド: {names}。一覧は :help です。',
        '命令：{names}；:help 列出全部。',
    ),
    'doubt': (
        'Do you want me to do this, or only to know about it: "{order}"? Nothing was done. Say '
        '"yes" within {seconds:.0f} s and it becomes an order; anything else drops it.',
        '「{order}」は指示ですか、それとも質問ですか。まだ何もしていません。{seconds:.0f} 秒以内に'
        '「はい」と言えば指示として実行します。それ以外は取り消します。',
        '“{order}”是命令还是提问？还没有执行任何操作。{seconds:.0f} 秒内说“好”就作为命令执行，'
        '其他任何话都会放弃它。',
    ),
    'doubt_later': (
        'Is this an order or a question: "{order}"? Nothing was done, and another question is '
        'open. Answer that one first, or say this as an order.',
        '「{order}」は指示ですか、それとも質問ですか。何もしていません。別の質問が残っています。'
        '先にそれに答えるか、指示の形で言ってください。',
        '“{order}”是命令还是提问？没有执行任何操作，而且还有另一个问题待答复。'
        '请先回答那个问题，或者用命令的形式再说一遍。',
    ),
    'dropped': (
        'Understood: I do nothing.',
        'わかりました。何もしません。',
        '明白：我什么也不做。',
    ),
    'unclear_yes': (
        'Two questions were open, so this yes has no effect. :approve answers the operation; '
        'say the order again to give it.',
        '質問が二つあったため、この返事は無効です。操作の承認は :approve、'
        '指示はもう一度言ってください。',
        '有两个问题待答复，所以这个回答无效。:approve 批准操作；要下命令请再说一遍。',
    ),
}


def answer_line(key: str, language: str, **values: Any) -> str:
    """The text ``key`` in ``language``, one of LANGUAGES."""
    return _TEXTS[key][LANGUAGES.index(language)].format(**values)
