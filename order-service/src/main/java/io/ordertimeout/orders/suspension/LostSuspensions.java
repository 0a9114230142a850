package io.ordertimeout.orders.suspension;

import org.springframework.stereotype.Component;

/** Pauses and holds that Postgres has lost although they were in force. Thread-safe. */
@Component
public class LostSuspensions {

  private final ExpiryPauses pauses;
  private final ExpiryHolds holds;

  LostSuspensions(ExpiryPauses pauses, ExpiryHolds holds) {
    this.pauses = pauses;
    this.holds = holds;
  }

  /**
   * Places those again that this instance knows to be in force and whose rows are gone. Has to
   * precede the first decision on a server of Postgres that may have lost commits.
   *
   * @throws org.springframework.dao.DataAccessException if Postgres does not answer; none is
   *     forgotten
   */
  public void placeAgain() {
    pauses.placeAgain();
    holds.placeAgain();
  }
}
