"""AUC: sets of auctions, bidding, paying and building."""

from skyenv.rules.actions import BID, BID_DONE, BUILD, PASS, STOP
from skyenv.rules.alea import alea_bids, alea_wins, return_alea_cards
from skyenv.rules.cards import return_coloured, turn_up_top
from skyenv.rules.compiling import called_rule, rule
from skyenv.rules.components import (
    BLACK,
    BUILD_LIMIT,
    CENTRAL_PARK,
    LOWEST_CARD,
    MAX_PLAYERS,
    NUM_COLOURS,
    NUM_RANKS,
)
from skyenv.rules.event_log import EVENT_AUCTION, EVENT_WON, NOBODY, LogRecord, report
from skyenv.rules.record import Array
from skyenv.rules.scoring import finish, plot_is_empty, tiles_on_plot
from skyenv.rules.state import (
    ALEA,
    ALEA_OUT,
    ALEA_STANDS,
    ALEA_WAITS,
    BID_BLACK,
    BID_COLOURED,
    END_TASK,
    NONE,
    PHASE_BID,
    PHASE_BUILD,
    PHASE_OVER,
    GameRecord,
)
from skyenv.rules.stops import carry_out_stop, remove_marker
from skyenv.rules.turn import go_on


@rule
def open_auction(game: GameRecord, log: LogRecord) -> None:
    """AUC-1, AUC-2: begin the next auction of the set: the districts in the order of the visits,
    then the park area.
    """
    commissioner = int(game.auction_commissioner)
    place = CENTRAL_PARK
    if game.markers[commissioner] > 0:
        place = int(game.visited[commissioner, 0])
    game.auction_place = place
    clear_auction(game)
    bids = game.num_players == 2 and game.alea_supply != NONE
    game.alea = ALEA_WAITS if bids else ALEA_OUT
    game.seat = game.turn_seat
    game.phase = PHASE_BID
    report(log, EVENT_AUCTION, place, game.turn_seat)


@rule
def clear_auction(game: GameRecord) -> None:
    """Reset the auction: no bids, no passes, Alea out."""
    game.highest = 0
    game.highest_bidder = NONE
    game.laid = NONE
    game.park_colour = NONE
    game.alea = ALEA_OUT
    for seat in range(MAX_PLAYERS):
        game.out[seat] = 0
        clear_bid(game, seat)


@rule
def clear_bid(game: GameRecord, seat: int) -> None:
    """Reset the seat's bid."""
    game.bid_colour[seat] = NONE
    game.bid_total[seat] = 0
    for kind in (BID_COLOURED, BID_BLACK):
        for rank in range(NUM_RANKS):
            game.bid_cards[seat, kind, rank] = 0


@rule
def allowed_colours(game: GameRecord, seat: int) -> int:
    """AUC-4, AUC-5, AUC-6, AUC-12: return a bit mask of the colours in which the seat may bid."""
    if game.bid_colour[seat] != NONE:
        return 1 << int(game.bid_colour[seat])
    if game.auction_place == CENTRAL_PARK:
        if game.park_colour != NONE:
            return 1 << int(game.park_colour)
        return (1 << NUM_COLOURS) - 1
    district = int(game.auction_place)
    empty = 0
    with_businesses = 0
    for plot in range(NUM_COLOURS):
        if game.owner[district, plot] == seat:
            return 1 << plot
        if game.owner[district, plot] == NONE:
            if tiles_on_plot(game, district, plot) == 0:
                empty |= 1 << plot
            else:
                with_businesses |= 1 << plot
    return empty if empty != 0 else with_businesses


@rule
def legal_bids(game: GameRecord, mask: Array) -> None:
    """AUC-3, AUC-4: mark passing, laying down a card, and ending the bid.

    A card is legal only if the bid can still exceed the highest one with the cards that the laying
    order leaves.
    """
    seat = int(game.seat)
    mask[PASS] = game.laid == NONE
    mask[BID_DONE] = game.bid_total[seat] > game.highest
    first_black = max(int(game.laid) - NUM_RANKS, 0)
    has_colour = game.bid_colour[seat] != NONE
    left = legal_cards_of(game, mask, BLACK, first_black, 0, has_colour)
    if game.laid < NUM_RANKS:
        colours = allowed_colours(game, seat)
        for colour in range(NUM_COLOURS):
            if (colours >> colour) & 1 != 0:
                legal_cards_of(game, mask, colour, max(int(game.laid), 0), left, True)


@rule
def legal_cards_of(
    game: GameRecord, mask: Array, colour: int, first: int, left: int, allowed: bool
) -> int:
    """Mark the legal cards of one colour; see :func:`legal_bids`.

    Args:
        first: the lowest rank that the laying order allows.
        left: total value of the cards that may follow this colour.
        allowed: whether the colour may be laid down.

    Returns:
        The total value of the cards that may follow, including this colour's.
    """
    seat = int(game.seat)
    missing = int(game.highest) - int(game.bid_total[seat])
    for rank in range(NUM_RANKS - 1, first - 1, -1):
        cards = int(game.hand[seat, colour, rank])
        left += cards * (rank + LOWEST_CARD)
        mask[BID + NUM_RANKS * colour + rank] = allowed and cards > 0 and left > missing
    return left


@rule
def apply_card(game: GameRecord, colour: int, rank: int) -> None:
    """AUC-3, AUC-4, AUC-12: lay down one card of the bid."""
    seat = int(game.seat)
    game.hand[seat, colour, rank] -= 1
    if game.known[seat, colour, rank] > 0:
        game.known[seat, colour, rank] -= 1
    else:
        if colour == BLACK and game.num_players == 2 and game.deduced[seat, rank] > 0:
            game.deduced[seat, rank] -= 1
        game.unknown[seat, colour] -= 1
        game.unlocated[colour, rank] -= 1
    game.bid_total[seat] += rank + LOWEST_CARD
    if colour == BLACK:
        game.bid_cards[seat, BID_BLACK, rank] += 1
        game.laid = NUM_RANKS + rank
        return
    game.bid_cards[seat, BID_COLOURED, rank] += 1
    game.laid = rank
    game.bid_colour[seat] = colour
    if game.auction_place == CENTRAL_PARK:
        game.park_colour = colour


@rule
def apply_bid_done(game: GameRecord, log: LogRecord) -> None:
    """AUC-3, ALEA-3: end the bid; Alea, once overbid, is out."""
    seat = int(game.seat)
    game.highest = game.bid_total[seat]
    game.highest_bidder = seat
    game.laid = NONE
    if game.alea == ALEA_STANDS:
        game.alea = ALEA_OUT
    next_bidder(game, log)


@rule
def apply_pass(game: GameRecord, log: LogRecord) -> None:
    """AUC-2, AUC-7: leave the auction; the cards return to the hand as public cards (INF-3)."""
    seat = int(game.seat)
    game.out[seat] = 1
    for kind in (BID_COLOURED, BID_BLACK):
        colour = BLACK if kind == BID_BLACK else int(game.bid_colour[seat])
        for rank in range(NUM_RANKS):
            cards = game.bid_cards[seat, kind, rank]
            if cards > 0:
                game.hand[seat, colour, rank] += cards
                game.known[seat, colour, rank] += cards
    clear_bid(game, seat)
    next_bidder(game, log)


@rule
def next_bidder(game: GameRecord, log: LogRecord) -> None:
    """AUC-2, ALEA-2, ALEA-3: pass the decision to the next seat still in; the auction ends if that
    is the highest bidder, or none.
    """
    players = int(game.num_players)
    seat = int(game.seat)
    if game.alea == ALEA_WAITS and seat != game.turn_seat:
        alea_bids(game, log)
    for i in range(1, players + 1):
        other = (seat + i) % players
        if game.out[other]:
            continue
        if game.highest_bidder == other:
            break
        game.seat = other
        return
    settle(game, log)


@rule
def settle(game: GameRecord, log: LogRecord) -> None:
    """AUC-8, ALEA-5: end the auction; the winner pays, then builds or stops."""
    winner = int(game.highest_bidder)
    bidder = winner if winner != NONE else NOBODY
    report(log, EVENT_WON, bidder, game.highest)
    return_alea_cards(game)
    if winner == ALEA:
        alea_wins(game, log)
    elif winner != NONE:
        pay(game, log, winner)
        game.seat = winner
        game.phase = PHASE_BUILD
        return
    close_auction(game, log)


@rule
def pay(game: GameRecord, log: LogRecord, winner: int) -> None:
    """AUC-8: put coloured cards under their stack, the lowest first; black ones face up under the
    black stack.
    """
    colour = int(game.bid_colour[winner])
    for rank in range(NUM_RANKS):
        for _ in range(game.bid_cards[winner, BID_COLOURED, rank]):
            return_coloured(game, colour, rank)
        game.black_face_up[rank] += game.bid_cards[winner, BID_BLACK, rank]
    if game.top[colour] == NONE:
        turn_up_top(game, log, colour)


@called_rule
def close_auction(game: GameRecord, log: LogRecord) -> None:
    """AUC-1: begin the next auction of the set; after the park area's, continue the turn unless the
    game or task is over.
    """
    place = int(game.auction_place)
    commissioner = int(game.auction_commissioner)
    game.auction_place = NONE
    clear_auction(game)
    if place != CENTRAL_PARK:
        remove_marker(game, commissioner, place)
    if game.auctions_left > 0:
        game.auctions_left -= 1
    last = place == CENTRAL_PARK or game.auctions_left == 0
    if not last and game.phase != PHASE_OVER:
        open_auction(game, log)
        return
    game.auction_commissioner = NONE
    if game.auctions_left == 0 and game.phase != PHASE_OVER:
        finish(game, log, END_TASK)
    if game.phase != PHASE_OVER:
        go_on(game, log)


@rule
def highest_rank(game: GameRecord, seat: int) -> int:
    """AUC-10: return the rank of the seat's highest card on the table, coloured or black; 0 if
    none.
    """
    highest = 0
    for rank in range(NUM_RANKS):
        for kind in (BID_COLOURED, BID_BLACK):
            if game.bid_cards[seat, kind, rank] > 0:
                highest = rank
    return highest


@rule
def build_limit(game: GameRecord, seat: int) -> int:
    """AUC-10, COM-10: return the number of skyscrapers that the bid's highest card and the supply
    allow.
    """
    return min(int(BUILD_LIMIT[highest_rank(game, seat)]), int(game.supply[seat]))


@rule
def is_full(game: GameRecord, district: int) -> bool:
    """STOP-1: return whether every plot of the district is occupied."""
    for plot in range(NUM_COLOURS):
        if plot_is_empty(game, district, plot):
            return False
    return True


@rule
def legal_builds(game: GameRecord, mask: Array) -> None:
    """AUC-10, AUC-12, STOP-1: mark the numbers of skyscrapers to build, and the building stop."""
    seat = int(game.seat)
    may_build = True
    if game.auction_place != CENTRAL_PARK and is_full(game, int(game.auction_place)):
        mask[STOP] = 1
        # AUC-5 (3): a bid with a plot of businesses leaves no plot to build on.
        may_build = game.owner[game.auction_place, game.bid_colour[seat]] == seat
    if may_build:
        for skyscrapers in range(build_limit(game, seat) + 1):
            mask[BUILD + skyscrapers] = 1


@rule
def apply_build(game: GameRecord, log: LogRecord, skyscrapers: int) -> None:
    """AUC-10, AUC-12: build on the plot of the winner's colour, or in the park area."""
    seat = int(game.seat)
    game.supply[seat] -= skyscrapers
    if game.auction_place == CENTRAL_PARK:
        game.park[seat] += skyscrapers
    elif skyscrapers > 0:
        game.floors[game.auction_place, game.bid_colour[seat]] += skyscrapers
        game.owner[game.auction_place, game.bid_colour[seat]] = seat
    close_auction(game, log)


@rule
def apply_stop(game: GameRecord, log: LogRecord) -> None:
    """STOP-1: declare a building stop."""
    carry_out_stop(game, log, int(game.auction_place), int(game.seat))
    close_auction(game, log)
