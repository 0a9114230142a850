package io.ordertimeout.it.oracle;

/**
 * The shares of all orders without which a run proves too little, because hardly any order was in a
 * situation that matters.
 *
 * @param minPaidInTime orders with a payment that was certainly in time
 * @param minPaidLate orders all of whose payments were certainly too late
 * @param maxUndecidable orders with a payment of which neither is certain, and none in time
 * @param minInDoubt orders with a payment or closure that cannot be decoded
 */
public record ShareBounds(
    double minPaidInTime, double minPaidLate, double maxUndecidable, double minInDoubt) {}
