// Facts from Python; `make docs` writes this file.
export const PLOT = 13;
export const TAKE = 55;
export const MOVE = 60;
export const PASS = 78;
export const BID = 79;
export const BID_DONE = 97;
export const STOP = 102;
export const CARD_COLOURS = ["green", "violet", "brown", "orange", "gray", "black"];
export const BLACK = 5;
export const LOWEST_CARD = 4;
export const NUM_RANKS = 3;
export const NUM_PLACES = 9;
export const CARDS_FROM = 38;
export const CARD_STEP = 26;
export const CARDS_LEAVE = 128;
export const USUAL = "greedy";
export const ESTIMATOR = "trained";
export const STRONGEST = ["ismcts-trained-1000", "lookahead", "trained", "ismcts-100"];
export const WORDS = new Map([
  ["greedy-4vp", "Tourist"],
  ["greedy-2.5vp", "Shopkeeper"],
  ["greedy-1.5vp", "Landlord"],
  ["greedy-1vp", "Broker"],
  ["greedy", "Banker"],
  ["rollout-16", "Surveyor"],
  ["ismcts-100", "Planner"],
  ["trained", "Architect"],
  ["ismcts-trained-1000", "Developer"],
  ["lookahead", "Tycoon"],
  ["appraiser", "Appraiser"],
  ["bidder", "Bidder"],
  ["builder", "Builder"],
  ["crowd", "Crowd"],
  ["random", "Random"],
]);
