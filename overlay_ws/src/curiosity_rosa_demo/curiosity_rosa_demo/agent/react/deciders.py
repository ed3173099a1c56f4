# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Who decides: the plan, the rule model, or a language model under the rule model's eyes."""

from __future__ import annotations

from collections.abc import Sequence
import json
import math
import re
import time
from typing import Any

from curiosity_rosa_demo.agent.language.grammar import Step
from curiosity_rosa_demo.agent.language.sentence import Intent
from curiosity_rosa_demo.agent.llm.call import (
    decide,
    ModelCallFailed,
    rejected_answer,
    UnusableAnswer,
)
from curiosity_rosa_demo.agent.llm.chat_model import BudgetReached
from curiosity_rosa_demo.agent.react.plan import (
    cancel_plan,
    next_step,
    NextStep,
    record_step,
    trace_steps,
)
from curiosity_rosa_demo.agent.react.prompt import CallMessages, calls_of, inputs_of
from curiosity_rosa_demo.agent.react.rehearse import begin_plan, rehearse_plan
from curiosity_rosa_demo.agent.react.supervise import (
    exchange_to_retry,
    GOOD_PICTURE,
    is_repeat,
    missing_act,
    refusals_text,
    refused_too_often,
    RETRY_WAIT_S,
    rules_may_decide,
    SentenceStream,
    stuck_reason,
)
from curiosity_rosa_demo.agent.react.think import Choice
from curiosity_rosa_demo.agent.react.turn import ROUTINE, Turn, TurnEnvironment
from curiosity_rosa_demo.agent.rule_model import rules
from curiosity_rosa_demo.agent.rule_model.beliefs import RoverFigures
from curiosity_rosa_demo.agent.rule_model.decision import FinalAnswer, TurnView
from curiosity_rosa_demo.agent.rule_model.explore import detour_cost
from curiosity_rosa_demo.agent.rule_model.orders import refused_text, SOURCE, TOLD
from curiosity_rosa_demo.agent.skills.skill import Skill
from curiosity_rosa_demo.domain.brain_state import DecisionType, Json
from curiosity_rosa_demo.domain.geometry import finite_float, Place
from curiosity_rosa_demo.domain.models import TraceKind
from curiosity_rosa_demo.domain.operation import call_text, DECIDE_TOOL, Exchange
from curiosity_rosa_demo.domain.plan import Plan, PlanStatus, PlanStep, StepStatus
from curiosity_rosa_demo.domain.skills import MOTIONS
from curiosity_rosa_demo.domain.text import clip, count_text, printable
from curiosity_rosa_demo.trace.events import BudgetLimitReached
from langchain_core.messages import BaseMessage

NO_ANSWER_TEXT = 'The model answered nothing.'
ASKED_AGAIN = 'The model is asked again: '
_BRIGHT = re.compile(r'\bX\s*(?:>=|≥)\s*([-+]?\d+(?:\.\d+)?)')  # in the words of prompts.yaml


class PlanDecider:
    """The next step of a plan that has one. The end of a plan that a client gave ends the turn;
    after any other the next decider goes on.
    """

    def __init__(self, env: TurnEnvironment) -> None:
        self._env, self._rules = env, RuleDecider(env)

    def decide(self, turn: Turn) -> Choice | None:
        plan = turn.plan
        if plan is None:
            return None
        is_new = turn.plan_is_given and plan.status is PlanStatus.CREATED
        if is_new and (why := rehearse_plan(turn, self._env, plan)):
            return self._refused(plan, why)
        while turn.plan_is_open:
            if turn.search is None:
                following = next_step(plan, turn.observation, time.time())
                trace_steps(self._env.trace, following.results)
                if following.step is None:
                    break
                if turn.search is None:
                    return _choice_of(following.step, following)
            choice = self._rules.decide(turn)
            if choice.calls:
                return choice
            assert turn.search is not None
            turn.search.metadata[TOLD] = choice.reason
            ok = choice.type is DecisionType.FINISH
            trace_steps(self._env.trace, record_step(plan, ok, choice.reason, {}, time.time()))
        return _end_of(plan) if turn.plan_is_given else None

    def _refused(self, plan: Plan, why: str) -> Choice:
        text = f'{why}. The plan was not begun.'
        self._env.trace(TraceKind.ERROR, text, tool_name='plan', ok=False, error_reason=text)
        cancel_plan(plan)
        return Choice(DecisionType.ABORT, text)


def _choice_of(step: PlanStep, following: NextStep) -> Choice:
    calls: tuple[Exchange, ...] = ()
    if following.op_skill:
        call, number = json.dumps(following.arguments), step.step_id
        calls = (Exchange(tool=following.op_skill, input=call, plan_step=number),)
    return Choice(reason=step.description, calls=calls, question=following.question)


def _end_of(plan: Plan) -> Choice:
    done = sum(step.status is StepStatus.SUCCESS for step in plan.steps)
    steps = f'{done} of {count_text(len(plan.steps), "step")} done'
    text = f'Plan {plan.plan_id}: {plan.status.value}, {steps}.'
    if failed := [f'step {step.step_id} {step.action}' for step in plan.get_failed_steps()]:
        text = f'{text} Failed: {", ".join(failed)}.'
    ended_well = plan.status is PlanStatus.COMPLETED
    return Choice(DecisionType.FINISH if ended_well else DecisionType.ABORT, text)


class RetryDecider:
    """The last call again, where the error map says so."""

    def __init__(self, env: TurnEnvironment) -> None:
        self._env = env

    def decide(self, turn: Turn) -> Choice | None:
        """Blocks for RETRY_WAIT_S before a retry."""
        call = None if turn.plan is not None else exchange_to_retry(turn, self._env)
        if call is None:
            return None
        self._env.cancellation.sleep(RETRY_WAIT_S)
        again = Exchange(tool=call.tool, input=call.input, by=call.by, retry_of=call.call_id)
        return Choice(DecisionType.RETRY, calls=(again,), by=call.by)


class RuleDecider:
    """The rule model: reads the turn and the skills. Its choices are marked where it stands in for
    a model.
    """

    def __init__(self, env: TurnEnvironment) -> None:
        self._env, config = env, env.config
        self._rover = RoverFigures.of(config)
        prompts = config.prompts.robot_system_prompts
        bright = _BRIGHT.search('\n'.join(prompts.model_dump().values()))
        self._bright_x = float(bright[1]) if bright else None
        self._stows = [part.stow_command for part in config.robot.appendages.values()]

    def view(self, turn: Turn) -> TurnView:
        """The turn as the rules see it; in a search that is a step of a plan, of this step alone.
        Beside a model they do not see its refused proposals, which are no failure of the skill.
        """
        skills = {each.definition.name: each for each in self._env.registry.for_model()}
        costs = self._env.config.tool_costs
        longest_s = (_longest_s(skills[name]) for name in MOTIONS if name in skills)
        steps = [each for each in turn.exchanges if each.result is not None]
        if self._env.fallback is not None:
            steps = [each for each in steps if each.op or each.by or each.plan_step is not None]
        wanted: Intent | None = None
        if (search := turn.search) is not None:
            steps = [each for each in steps if each.plan_step == search.step_id]
            verb = 'explore' if search.parameters.get('analyze') else 'light'
            wanted = Intent('explore', steps=(Step(verb),))
        return TurnView(
            self._rover,
            self._env.said,
            steps=tuple(steps),
            tools=frozenset(skills),
            costs={name: costs.of(name) for name in skills},
            bright_x=self._bright_x,
            longest_s=min(filter(None, longest_s), default=TurnView.longest_s),
            stows=tuple(name for name in skills if name in self._stows),
            facts=turn.observation,
            plan=turn.plan if turn.plan is not None and turn.plan.source == SOURCE else None,
            wanted=wanted,
            by=self._by,
        )

    @property
    def _by(self) -> str:
        return '' if self._env.fallback is None else ROUTINE

    def decide(self, turn: Turn) -> Choice:
        """The end of a search that is a step of a plan has no calls, as that of a turn."""
        self._env.cancellation.check()
        by = self._by
        decision = rules.decide(self.view(turn))
        if isinstance(decision, FinalAnswer):
            kind = DecisionType.FINISH if decision.ok else DecisionType.ABORT
            return Choice(kind, decision.text, by=by)
        if isinstance(decision, Plan):
            return self._begun(turn, decision, by)
        thought, step = decision.thought.strip(), turn.search
        if thought:
            self._env.trace(thought_kind(turn), thought)
        call = Exchange(
            tool=decision.tool,
            input=json.dumps(dict(decision.args)),
            thought=thought,
            by=by,
            plan_step=None if step is None else step.step_id,
        )
        return Choice(reason=thought, calls=(call,), by=by)

    def _begun(self, turn: Turn, plan: Plan, by: str) -> Choice:
        self._env.trace(thought_kind(turn), plan.reasoning)
        if why := begin_plan(turn, self._env, plan):
            return Choice(DecisionType.ABORT, refused_text(self.view(turn), why), by=by)
        return Choice(reason=plan.reasoning, by=by)


def _longest_s(motion: Skill) -> float | None:
    """The longest duration that the skill takes; None: it has no limit."""
    properties: Any = motion.definition.args_schema.get('properties', {})
    return finite_float(properties.get('duration_s', {}).get('maximum'))


def thought_kind(turn: Turn) -> TraceKind:
    return TraceKind.OBSERVE if turn.exchanges else TraceKind.HYPOTHESIZE


class ModelDecider:
    """Asks ``agent``, ROSA's agent. The rule model decides when the model cannot be reached, gives
    no usable answer, is refused too often in a row, or makes no progress.
    """

    def __init__(self, env: TurnEnvironment, agent: Any) -> None:
        self._env, self.agent, self.rules = env, agent, RuleDecider(env)
        self._calls = CallMessages()
        self._told: tuple[Turn | None, str] = None, ''  # the last reason is told once in a turn

    def decide(self, turn: Turn) -> Choice:
        env, fallback = self._env, self._env.fallback
        stands_in = rules_may_decide(turn, env)
        if fallback is not None and stands_in:
            if turn.takeovers >= self._most_takeovers:  # told when it began to finish the turn
                return self.rules.decide(turn)
            refused = refused_too_often(turn, env)
            if why := refusals_text(turn) if refused else stuck_reason(turn, env):
                self._count_takeover(turn)
                return self._by_rules(turn, why)
            if why := fallback.unavailable_reason():
                return self._by_rules(turn, why)
        data: Json | None = None
        try:
            choice = self._ask(turn)
        except BudgetReached as reached:  # no failure of the model: the breaker stays as it is
            why = reached.refusal.text(env.said.language)
            told = BudgetLimitReached(**reached.refusal.to_json()).trace_fields(why)
            data = told['data']
            if not stands_in:
                env.trace(**told, error_reason=why)
        except UnusableAnswer as failure:  # the server is there: the breaker stays closed
            why = str(failure)
            if stands_in:
                self._count_takeover(turn)
            if fallback is not None:
                fallback.record_success()
        except ModelCallFailed as failure:
            why = str(failure)
            if fallback is not None:
                fallback.record_failure(why)
        else:
            if fallback is not None:
                fallback.record_success()
            return choice
        return self._by_rules(turn, why, data) if stands_in else Choice(DecisionType.ABORT, why)

    def _by_rules(self, turn: Turn, why: str, data: Json | None = None) -> Choice:
        """``why``: the reason against the model."""
        if turn.takeovers >= self._most_takeovers:
            steps_in = f'the rule model has stepped in {count_text(turn.takeovers, "time")}'
            why = f'{why.removesuffix(".")}; {steps_in} and finishes the turn.'
        (told_in, told), self._told = self._told, (turn, why)
        is_known = told_in is turn and told == why
        text = f'The rule model decides this step: {"as before" if is_known else why}'
        self._env.trace(TraceKind.ERROR, text, ok=False, error_reason=why, data=data)
        return self.rules.decide(turn)

    def _count_takeover(self, turn: Turn) -> None:
        turn.takeovers = min(turn.takeovers + 1, self._most_takeovers)

    @property
    def _most_takeovers(self) -> int:
        return self._env.config.guardrails.patience.takeovers

    def _ask(self, turn: Turn) -> Choice:
        """The model's decision. An answer that cannot be used is asked for again, once, with the
        reason. Raises ModelCallFailed, TurnCancelled.
        """
        try:
            return self._checked(turn)
        except UnusableAnswer as answer:
            text = f'{ASKED_AGAIN}{answer}'
            self._env.trace(TraceKind.ERROR, text, ok=False, error_reason=str(answer))
            return self._checked(turn, rejected_answer(answer.said, str(answer)))

    def _checked(self, turn: Turn, rejected: Sequence[BaseMessage] = ()) -> Choice:
        """The model's decision. A success is checked against the goal; an abort needs a reason."""
        choice = self._answer(turn, rejected)
        if waste := self._waste_text(turn, choice):
            raise UnusableAnswer(waste, '')
        kind, said = _ending(choice)
        act = missing_act(turn, self._env) if kind else ''
        if not act or turn.was_rejected:
            return choice
        if kind is DecisionType.FINISH:
            quote = clip(printable(said))
            raise UnusableAnswer(f'The model ended without a successful {act}: {quote}', said)
        if not said.strip():
            raise UnusableAnswer(f'The model gave up the {act} without a reason.')
        wanted_to_act = act == GOOD_PICTURE and turn.refused_in_a_row > 0  # so this is no veto
        if wanted_to_act and rules_may_decide(turn, self._env):
            raise UnusableAnswer(f'The model gave up the {act} after a refusal.', said)
        return choice

    def _answer(self, turn: Turn, rejected: Sequence[BaseMessage]) -> Choice:
        kind, env = thought_kind(turn), self._env
        sentences = SentenceStream(lambda text: env.trace(kind, text))
        inputs, llm = inputs_of(turn, env, self._calls, rejected), env.config.agent.llm
        try:
            message = decide(
                self.agent, inputs, llm, env.cancellation, sentences, meanwhile=env.settle
            )
            text = message.text().strip()
            if message.tool_calls:
                sentences.finish(text)
                return Choice(reason=text, calls=calls_of(message))
            if not text:
                raise UnusableAnswer(NO_ANSWER_TEXT)
            return Choice(DecisionType.FINISH, text)
        finally:
            sentences.close()

    def _waste_text(self, turn: Turn, choice: Choice) -> str:
        """Why the proposed call is a waste in a search for the light; empty if it is none, and
        what it costs is added up.
        """
        env, call = self._env, choice.calls[0] if choice.calls else None
        if call is None or env.said.intent.kind != 'explore' or not rules_may_decide(turn, env):
            return ''
        what = call_text(call.tool, call.arguments)
        if is_repeat(turn, call, env):
            return f'{what} has just succeeded: once more changes nothing.'
        here = Place.known(*map(turn.observation.get, ('x', 'y', 'yaw_rad')))
        cost = detour_cost(self.rules.view(turn), call.tool, call.arguments, here)
        wasted = turn.wasted + max(0.0, cost)
        if wasted <= env.config.guardrails.patience.detour_cost:
            turn.wasted = wasted
            return ''
        if math.isinf(cost):
            return f'The planner expects no way to the light after {what}.'
        return f"The planner expects the model's detours to cost {wasted:.0f} with {what}."


def _ending(choice: Choice) -> tuple[DecisionType | None, str]:
    """FINISH or ABORT for a decision that ends the turn, None for every other; and its text."""
    if not choice.calls:
        return DecisionType.FINISH, choice.reason
    tool, arguments = choice.calls[0].tool, choice.calls[0].arguments
    for kind in (DecisionType.FINISH, DecisionType.ABORT):
        if tool == DECIDE_TOOL and arguments.get('type') == kind.value:
            return kind, str(arguments.get('reason', ''))
    return None, ''
