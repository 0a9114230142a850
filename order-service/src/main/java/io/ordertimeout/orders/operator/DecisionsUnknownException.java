package io.ordertimeout.orders.operator;

import org.springframework.dao.TransientDataAccessResourceException;

/**
 * An order that cannot be changed at present, because Postgres may have lost a published decision
 * of it, and would undo the change when it is restored; repeating the request later helps.
 */
public final class DecisionsUnknownException extends TransientDataAccessResourceException {

  private static final long serialVersionUID = 1L;

  /** Creates the exception. */
  public DecisionsUnknownException() {
    super(
        "Postgres was restarted, restored or failed over, and what was published before has not been"
            + " read back yet: the order may have been cancelled already; nothing was changed");
  }
}
