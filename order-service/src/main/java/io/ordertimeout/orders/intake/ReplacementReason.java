package io.ordertimeout.orders.intake;

/** Why a consumer that still polls is replaced. */
enum ReplacementReason {
  /** The wall clock has jumped. */
  CLOCK,
  /** The group does not count it as the owner of its partitions. */
  MEMBERSHIP,
  /** The fleet has moved to another generation of the group. */
  GENERATION
}
