"""Compiled entry points: loops over a batch's rows that apply the rules and write observations.

The functions for one row (:func:`play_row`, :func:`reset_row`, …) are shared with the GPU's
kernels. Beside a :class:`Batch`, several functions take `rows`, int64 (k,): the rows to work on.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple, TypeVar, cast

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba.core import types
from numba.core.extending import intrinsic

from skyenv.engine.observation import OBSERVATION_SIZE, SCALE, write_codes
from skyenv.rules.actions import NUM_ACTIONS
from skyenv.rules.cards import cards_in_hand, refresh_knowledge
from skyenv.rules.chacha import chacha
from skyenv.rules.chance import MASK32, hash32, mix32, multiply32
from skyenv.rules.compiling import COMPILED, entry_point, rule
from skyenv.rules.components import MAX_PLAYERS, NUM_DISTRICTS, NUM_RANKS
from skyenv.rules.play import PHASE_FIRST_ACTION, apply, refresh_mask
from skyenv.rules.scoring import refresh_district, vp_if_scored, winners
from skyenv.rules.setup import begin
from skyenv.rules.state import (
    END_TRUNCATED,
    GAME_DTYPE,
    NONE,
    PHASE_BID,
    PHASE_BUILD,
    PHASE_OVER,
    Array,
    GameRecord,
    Record,
)
from skyenv.seeds import HIGHEST_SEED

Share = TypeVar("Share", float, npt.NDArray[np.float64])

OUTCOME, MARGIN, POINTS, TASK = range(4)
REWARDS: Final = ("outcome", "margin", "points")
MARGIN_SCALE: Final = 50.0  # reward "margin": this many VP ahead are a return of 1
CARD_VP: Final = 0.9  # a task's payoff: VP charged for each card paid

REFRESH: Final = -2  # instead of a seed: keep the game and update derived data
NEXT_SEED: Final = -3  # instead of a seed: the row's next one, as in automatic resets

RANDOM_PLAY: Final = 0x5EED1E55  # salt of random play, different from the games' own stream
BEGINNING: Final = 0x7A5CBE61  # salt of the choice of a task's opening
ROUNDS: Final = 12  # rounds of ChaCha in agents' random numbers: 80 ns a number

OK: Final = -1
SLOT_DTYPE: Final = np.dtype(
    [
        ("step_id", np.int64),  # number of the last step that named this row
        ("seed", np.int64),  # of the latest game with a seed that began here
        ("num_legal", np.int32),
        ("reward", np.float32, (MAX_PLAYERS,)),  # every seat's reward of the last step
        ("vp", np.int32, (MAX_PLAYERS,)),  # the counted VP before it
        ("done", np.bool_),
        ("truncated", np.bool_),
        ("legal", np.int8, (NUM_ACTIONS,)),  # 1 for every legal action
    ],
    align=True,
)

ROWS_AHEAD: Final = 2
"""Prefetch distance in rows; without prefetching, every row of a large batch waits for memory."""
CHECKS_AHEAD: Final = 16  # the same, for checks of actions, which take less time
LEGAL: Final = int(cast(Any, SLOT_DTYPE.fields)["legal"][1])  # offset of a slot's legal actions
LINE: Final = 64  # bytes of a line of the processor's cache
GAME_BYTES: Final = GAME_DTYPE.itemsize
GAME_WORDS: Final = GAME_BYTES // 4
SLOT_BYTES: Final = SLOT_DTYPE.itemsize


class Batch(NamedTuple):
    """A batch of games for compiled code, which writes the arrays in place.

    Attributes:
        state: GAME_DTYPE (n,), the games.
        slots: SLOT_DTYPE (n,), private memory of the rows, with the legal actions as the engine
            knows them.
        mask: int8 (n, 103).
        seat: int64 (n,).
        observation: float32 (n, OBSERVATION_SIZE), or (n, 0): not wanted as numbers.
        codes: CODES_DTYPE, the observation's codes: (n,); with an `observation` (2 · threads,) on
            the CPU, of which each thread uses every other one as scratch memory; (0,): not wanted.
        reward: float32 (n, players).
        done, truncated: bool (n,).
        state_words, finished: uint32 (n, GAME_WORDS), the same memory as `state`, and finished
            games.
        blank: uint32 (b, GAME_WORDS), a game before its setup, or a task's openings.
        log: LOG_DTYPE (1,).
        kind: of reward: OUTCOME, MARGIN, POINTS or TASK.
        autoreset: whether a row begins its next game when one is over.
    """

    state: Any
    slots: Any
    mask: Any
    seat: Any
    observation: Any
    codes: Any
    reward: Any
    done: Any
    truncated: Any
    state_words: Any
    finished: Any
    blank: Any
    log: Any
    kind: int
    autoreset: bool


class SlotRecord(Record):
    """One record of SLOT_DTYPE."""


@rule
def uniform32(game: GameRecord, salt: int) -> int:
    """A cheap random number of the decision, 32 bits: a function of the game's seed, the number of
    the decision and a salt.

    Some of these numbers would reveal the seed, so they are never exposed outside of compiled
    loops. Agents get :func:`agents_uniform`.
    """
    number = (int(game.decisions) + multiply32(salt & MASK32, 0x9E3779B9)) & MASK32
    # Another bijection than the one that seeds the stream, so that no salt reveals the game's
    # chance.
    return hash32(int(game.seed) & HIGHEST_SEED, mix32(number ^ RANDOM_PLAY))


@rule
def agents_uniform(game: GameRecord, agent_seed: int, salt: int) -> float:
    """Return the decision's random number for an agent, 0 to 1 − 2⁻³², independent of hidden
    information (INF-2).

    Args:
        game: the game, of which the seed and the number of the decision are used.
        agent_seed: a secret added to the game's seed, 0 … 2⁶³−1; NONE: no secret.
        salt: 0 … 2⁶³−1.
    """
    seed = int(game.seed)
    own, secret = (0, 0) if agent_seed == NONE else (1, agent_seed)
    key = (seed & MASK32, (seed >> 32) & MASK32, secret & MASK32, secret >> 32, own, 0, 0, 0)
    return chacha(key, (int(game.decisions), salt & MASK32, salt >> 32, 0), ROUNDS) / 2**32


@rule
def counted_vp(game: GameRecord, kind: int, seat: int) -> int:
    """Return the VP behind the rewards "margin" and "points" and a task's payoff; a step's reward
    is their change.
    """
    if kind == POINTS:
        return int(game.score[seat])
    best_other = -1
    for other in range(game.num_players):
        if other != seat:
            best_other = max(best_other, standing(game, kind, other))
    return standing(game, kind, seat) - best_other


@rule
def standing(game: GameRecord, kind: int, seat: int) -> int:
    """Return the VP by which seats are compared; in a task as if all districts were scored."""
    return vp_if_scored(game, seat) if kind == TASK else int(game.score[seat])


@rule
def charge(game: GameRecord, slot: SlotRecord) -> None:
    """Charge the winner of an auction for the cards paid, and share that among the other seats (a
    task's payoff).
    """
    cards = 0
    for part in range(2):
        for rank in range(NUM_RANKS):
            cards += int(game.bid_cards[game.seat, part, rank])
    for seat in range(game.num_players):
        share = -1.0 if seat == game.seat else 1.0 / (game.num_players - 1)
        slot.reward[seat] += CARD_VP * cards * share


def outcome_of(share: Share, num_players: int) -> Share:
    """Return the reward "outcome" of a share of the win: (share − 1/N) · N/(N−1), 1 for a sole win,
    summing to 0.

    Args:
        share: 0 to 1, one number or float64 of any shape.
        num_players: N.
    """
    return (share - 1 / num_players) * num_players / (num_players - 1)


compiled_outcome_of = rule(outcome_of)


def share_of(outcome: Share, num_players: int) -> Share:
    """Return the share of the win of a reward "outcome", the inverse of :func:`outcome_of`."""
    return 1 / num_players + outcome * (num_players - 1) / num_players


@rule
def win_share(seats: int, seat: int) -> float:
    """END-4: a seat's share of the win, where the winners, a bit mask, share 1."""
    number = 0
    for other in range(MAX_PLAYERS):
        number += (seats >> other) & 1
    return ((seats >> seat) & 1) / number


@rule
def following_seed(game: GameRecord, slot: SlotRecord, num_games: int) -> int:
    """Return the seed of a row's next game: the current or latest one + num_games, mod 2⁶³."""
    seed = int(slot.seed if game.seed == NONE else game.seed)
    room = HIGHEST_SEED - num_games  # so that the sum can't overflow
    return seed + num_games if seed <= room else seed - room - 1


# ---- one row of a batch, on the CPU and on a GPU ----


@rule
def copy_game(target: Array, row: int, source: Array, place: int) -> None:
    """Copy a game in words, as a GPU would copy a record byte by byte."""
    for word in range(GAME_WORDS):
        target[row, word] = source[place, word]


@rule
def deal(batch: Batch, row: int, seed: int) -> None:
    """Begin a row's new game (NONE: without a seed); the seed selects a task's opening."""
    opening = hash32(seed & HIGHEST_SEED, BEGINNING) % len(batch.blank)
    copy_game(batch.state_words, row, batch.blank, opening)
    begin(batch.state[row], batch.log[0], seed)
    if seed != NONE:
        batch.slots[row].seed = seed


@rule
def reset_row(batch: Batch, row: int, seed: int) -> None:
    """Begin a row's new game (`seed` may be NEXT_SEED), or update derived data (REFRESH)."""
    game, slot = batch.state[row], batch.slots[row]
    if seed == REFRESH:
        for district in range(NUM_DISTRICTS):
            refresh_district(game, district)
        refresh_knowledge(game)
    else:
        if seed == NEXT_SEED:
            seed = following_seed(game, slot, len(batch.state))
        deal(batch, row, seed)
        slot.done = slot.truncated = False
        for seat in range(MAX_PLAYERS):
            slot.reward[seat] = 0.0
    slot.num_legal = refresh_mask(game, slot.legal)
    write_outputs(batch, row)


@rule
def play_row(batch: Batch, row: int, action: int) -> None:
    """Play an action in a row, and note in its slot every seat's reward and whether the game is
    over; :func:`settle_row` must follow.
    """
    game, slot, kind = batch.state[row], batch.slots[row], batch.kind
    players = int(game.num_players)
    for seat in range(players):
        slot.reward[seat] = 0.0
        if kind != OUTCOME:
            slot.vp[seat] = counted_vp(game, kind, seat)
    bidding = game.phase == PHASE_BID
    apply(game, batch.log[0], action)
    slot.done = game.phase == PHASE_OVER
    slot.truncated = game.end == END_TRUNCATED
    if kind != OUTCOME:
        for seat in range(players):
            slot.reward[seat] = (counted_vp(game, kind, seat) - int(slot.vp[seat])) / (
                MARGIN_SCALE if kind == MARGIN else 1.0
            )
        if kind == TASK and bidding and game.phase == PHASE_BUILD:
            charge(game, slot)
    elif slot.done and not slot.truncated:
        best = winners(game)
        for seat in range(players):
            slot.reward[seat] = compiled_outcome_of(win_share(best, seat), players)


@rule
def settle_row(batch: Batch, row: int) -> None:
    """Store a row's game if it is over, begin the next one, and update the legal actions."""
    game, slot = batch.state[row], batch.slots[row]
    if slot.done:
        copy_game(batch.finished, row, batch.state_words, row)
        if batch.autoreset:
            deal(batch, row, following_seed(game, slot, len(batch.state)))
    slot.num_legal = refresh_mask(game, slot.legal)


@rule
def random_action(game: GameRecord, slot: SlotRecord, salt: int) -> int:
    """Return a uniformly random legal action."""
    left = (uniform32(game, salt) * int(slot.num_legal)) >> 32
    action = int(PHASE_FIRST_ACTION[game.phase])
    while left > 0 or slot.legal[action] == 0:
        left -= int(slot.legal[action])
        action += 1
    return action


@rule
def write_outputs(batch: Batch, row: int) -> None:
    """Write a row's outputs except the observation."""
    slot = batch.slots[row]
    batch.seat[row] = batch.state[row].seat
    batch.done[row] = slot.done
    batch.truncated[row] = slot.truncated
    for i in range(batch.reward.shape[1]):
        batch.reward[row, i] = slot.reward[i]
    for i in range(NUM_ACTIONS):
        batch.mask[row, i] = slot.legal[i]


# ---- loops over rows ----


@rule
def scale(codes: Array, place: int, observations: Array, row: int) -> None:
    """Write a row's observation from its codes, in one loop that the compiler vectorizes."""
    for i in range(OBSERVATION_SIZE):
        observations[row, i] = np.float32(codes[place].codes[i]) * SCALE[i]


@rule
def write_observation(batch: Batch, row: int, part: int) -> None:
    """Write a row's observation if enabled; `part` selects the scratch memory."""
    if len(batch.codes) > 0:
        game = batch.state[row]
        scaled = batch.observation.shape[1] > 0
        place = 2 * part if scaled else row
        write_codes(game, max(int(game.seat), 0), batch.codes[place])
        if scaled:
            scale(batch.codes, place, batch.observation, row)


def _prefetch(_context: Any, array: Any, _row: Any, _byte: Any) -> Any:
    """Emit ``llvm.prefetch`` of an address in a row."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        given, row, byte = arguments
        number, text = ir.IntType(32), ir.IntType(8).as_pointer()
        structure = context.make_array(signature.args[0])(context, builder, given)
        stride = builder.extract_value(structure.strides, 0)
        offset = builder.add(builder.mul(row, stride), byte)
        address = builder.gep(builder.bitcast(structure.data, text), [offset])
        kind = ir.FunctionType(ir.VoidType(), [text, number, number, number])
        instruction = builder.module.declare_intrinsic("llvm.prefetch", [text], kind)
        builder.call(instruction, [address, number(1), number(3), number(1)])  # write, keep, data
        return context.get_dummy_value()

    return types.void(array, types.int64, types.int64), build


def prefetch(array: Array, row: int, byte: int) -> None:
    """Request the cache line of a byte of a row, to be written, without waiting for it.

    Args:
        array: of any type.
        row: along its first axis.
        byte: from the row's beginning. An address outside the array does no harm.
    """


if COMPILED:
    prefetch = intrinsic(_prefetch)


@rule
def prefetch_row(batch: Batch, row: int) -> None:
    """Prefetch the memory that playing in a row accesses."""
    for byte in range(0, GAME_BYTES, LINE):
        prefetch(batch.state, row, byte)
    for byte in range(0, SLOT_BYTES, LINE):
        prefetch(batch.slots, row, byte)
    for byte in range(0, NUM_ACTIONS, LINE):
        prefetch(batch.mask, row, byte)


@entry_point("the rules")
def play_rows(
    batch: Batch, rows: Array, actions: Array, part: int, parts: int, random_steps: int, salt: int
) -> None:
    """Play one given action in every row or, if `random_steps` is not 0, that many random legal
    ones.

    Each of several threads plays its `part` of `parts`.
    """
    first, end = len(rows) * part // parts, len(rows) * (part + 1) // parts
    for k in range(first, end):
        row = rows[k]
        slot = batch.slots[row]
        if k + ROWS_AHEAD < end:
            prefetch_row(batch, rows[k + ROWS_AHEAD])
        for _step in range(max(random_steps, 1)):
            if random_steps == 0:
                action = actions[k]
            elif slot.num_legal > 0:
                action = random_action(batch.state[row], slot, salt)
            else:
                break
            play_row(batch, row, action)
            settle_row(batch, row)
            write_observation(batch, row, part)
        write_outputs(batch, row)


@entry_point("the setup of games")
def reset_rows(batch: Batch, rows: Array, seeds: Array) -> None:
    """Reset every row; see :func:`reset_row`."""
    for k in range(len(rows)):
        reset_row(batch, rows[k], seeds[k])
        write_observation(batch, rows[k], 0)


@entry_point("the check of actions")
def first_refused(slots: Array, rows: Array, actions: Array, step_id: int) -> int:
    """Return the index of the first row that is out of range, duplicated, or whose action is
    illegal; OK if none.
    """
    for k in range(len(rows)):
        if k + CHECKS_AHEAD < len(rows):
            ahead = rows[k + CHECKS_AHEAD]
            prefetch(slots, ahead, 0)
            prefetch(slots, ahead, LEGAL + actions[k + CHECKS_AHEAD])
        row = rows[k]
        if row < 0 or row >= len(slots) or slots[row].step_id == step_id:
            return k
        slots[row].step_id = step_id
        if actions[k] < 0 or actions[k] >= NUM_ACTIONS or slots[row].legal[actions[k]] == 0:
            return k
    return OK


@entry_point("observations")
def observe_rows(state: Array, codes: Array, rows: Array, seats: Array, out: Array) -> None:
    """Write the observation of each row's game from a given seat into `out`, float32 (k,
    OBSERVATION_SIZE).
    """
    for k in range(len(rows)):
        write_codes(state[rows[k]], seats[k], codes[0])
        scale(codes, 0, out, k)


@entry_point("agents' random numbers")
def uniforms(state: Array, rows: Array, agent_seed: int, salts: Array, out: Array) -> None:
    """Return each row's random number for its next decision, float64 (k,), from 0 to 1 − 2⁻³²."""
    for k in range(len(rows)):
        out[k] = agents_uniform(state[rows[k]], agent_seed, salts[k])


@entry_point("the results of games")
def results(state: Array, shares: Array, cards: Array, margins: Array) -> None:
    """Write results by END-4 on the current scores: `shares` float64 (n, 4), winners sharing 1;
    `cards` int64 (n, 4) in hand; `margins` int64 (n, 4), VP over the best other seat, were all
    districts scored.
    """
    for row in range(len(state)):
        best = winners(state[row])
        for seat in range(MAX_PLAYERS):
            shares[row, seat] = win_share(best, seat)
            cards[row, seat] = cards_in_hand(state[row], seat)
            margins[row, seat] = counted_vp(state[row], TASK, seat)
