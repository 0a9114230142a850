package io.ordertimeout.orders.benchmarks.traffic;

/** Orders of one measurement, with the customers who send them and the judge who watches them. */
public final class Trial implements AutoCloseable {

  private final Judge judge;
  private final Customers customers;
  private final CancellationReader reader;

  /**
   * Begins to watch a shop's cancellations.
   *
   * @param firstNumber the number of the first order
   * @param orders how many there may be
   */
  public Trial(Shop shop, long firstNumber, int orders) {
    this.judge = new Judge(firstNumber, orders);
    this.customers = new Customers(shop, judge);
    this.reader = new CancellationReader(shop, judge);
  }

  public Judge judge() {
    return judge;
  }

  public Customers customers() {
    return customers;
  }

  @Override
  public void close() {
    customers.close();
    reader.close();
  }
}
