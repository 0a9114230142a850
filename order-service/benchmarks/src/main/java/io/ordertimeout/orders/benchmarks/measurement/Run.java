package io.ordertimeout.orders.benchmarks.measurement;

import io.ordertimeout.orders.benchmarks.contender.Contender;
import io.ordertimeout.orders.benchmarks.contender.Instances;
import io.ordertimeout.orders.benchmarks.contender.OrderTimeout;
import io.ordertimeout.orders.benchmarks.contender.Peer;
import io.ordertimeout.orders.benchmarks.contender.PeerProcess;
import io.ordertimeout.orders.benchmarks.contender.ServiceProgram;
import io.ordertimeout.orders.benchmarks.report.Results;
import io.ordertimeout.orders.benchmarks.report.Results.Section;
import io.ordertimeout.orders.benchmarks.servers.Servers;
import io.ordertimeout.orders.benchmarks.traffic.OpenLoop;
import io.ordertimeout.orders.benchmarks.traffic.Shop;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;

/** One run of all measurements, on servers of its own. */
public final class Run {

  private static final String SERVICE = "Order timeout";
  private static final String TRAINED = ", extracted, with the archive of a training run";
  private static final double PAID_SHARE = 0.5;
  private static final Duration TIMEOUT = Duration.ofSeconds(10);
  private static final int SMALL_BURST_SHARE = 10;
  private static final int OLD_SHARE = 4;
  private static final int OLD_PAYMENTS = 1_000_000;

  /** More than the orders of any measurement. */
  private static final long NUMBERS = 100_000_000;

  private final Servers servers;
  private final Scale scale;
  private final ServiceProgram program;
  private final Results results;
  private final Consumer<String> progress;
  private final List<String> violations = new ArrayList<>();
  private long numbers;

  /**
   * Creates a run.
   *
   * @param progress is given a line when a measurement begins
   */
  public Run(
      Servers servers,
      Scale scale,
      ServiceProgram program,
      Results results,
      Consumer<String> progress) {
    this.servers = servers;
    this.scale = scale;
    this.program = program;
    this.results = results;
    this.progress = progress;
  }

  /** Measures the service and the peers; returns what is wrong with the service's cancellations. */
  public List<String> measure(List<Peer> peers) throws SQLException {
    Shop shop = Shop.open("order-timeout", servers);
    try (OrderTimeout service = new OrderTimeout(program, shop)) {
      progress.accept(SERVICE + ", empty table");
      service.start();
      firstBurst(shop, service, SERVICE);
      lateness(shop, service, "empty table");
      burst(shop, service);
      wal(shop);
      backlog(shop, service);
      idle(service, "nothing stored but the backlog");
      rebuild(shop, service, SERVICE);
      if (scale.starts() > 0) {
        starts(shop, service);
      }
      if (scale.pending() > 0) {
        large(shop, service);
      }
      if (scale.rush() > 0) {
        disturbed(shop, service);
      }
    }
    if (scale.day() > 0) {
      day();
    }
    if (scale.firstStart() > 0) {
      firstStart();
    }
    bare(shop);
    for (Peer peer : peers) {
      compare(peer);
    }
    return List.copyOf(violations);
  }

  private void large(Shop shop, OrderTimeout service) throws SQLException {
    service.close();
    String stored =
        "beside %,d pending and %,d settled orders".formatted(scale.pending(), scale.settled());
    progress.accept("Storing " + stored);
    StoredOrders.add(shop, "stored", scale.pending(), scale.settled());
    progress.accept(SERVICE + ", " + stored);
    service.start();
    lateness(shop, service, stored);
    idle(service, stored);
    rebuild(shop, service, SERVICE + ", " + stored);
  }

  private void starts(Shop shop, OrderTimeout service) {
    progress.accept(SERVICE + ", start");
    service.close();
    Section section =
        results.section(
            "Start",
            "From the start of the process until it serves its shards, each start after an orderly stop.");
    Starts.measure(section, SERVICE + ", from its jar", service, scale.starts());
    Path directory = servers.directory().resolve("extracted");
    ServiceProgram extracted = program.extracted(directory);
    Path archive = directory.resolve("archive");
    try (OrderTimeout training = instance(shop, extracted.training(archive), "training")) {
      progress.accept(SERVICE + ", training run");
      training.start();
      train(shop, training);
    }
    try (OrderTimeout trained = instance(shop, extracted.trained(archive), "trained")) {
      progress.accept(SERVICE + ", trained");
      Starts.measure(section, SERVICE + TRAINED, trained, scale.starts());
      trained.start();
      firstBurst(shop, trained, SERVICE + TRAINED);
    }
    service.start();
  }

  /** Has the service do for a while what it does in production; what that costs is not reported. */
  private void train(Shop shop, OrderTimeout service) {
    Section unreported = new Results().section("training", "");
    steady(shop, service).measure(unreported, SERVICE, nextNumber());
    new DueBurst(shop, service, smallBurst()).measure(unreported, SERVICE, nextNumber(), lead());
  }

  private void disturbed(Shop shop, OrderTimeout service) {
    Section section =
        results.section(
            "%,d orders due per second, while something else happens"
                .formatted(scale.duePerSecond()),
            "As above, beside all orders that are stored by then. Purged are orders that were settled"
                + " long ago. Instances share the shards; all run on this machine.");
    DisturbedLateness lateness =
        new DisturbedLateness(shop, section, openLoop(), warmUp(), this::nextNumber);
    progress.accept(SERVICE + ", rush");
    lateness.rush(service, scale.rush());
    service.close();
    progress.accept(SERVICE + ", purge");
    StoredOrders.addOld(shop, "old", scale.settled() / OLD_SHARE);
    try (OrderTimeout purging = instance(shop, 0, purgeAfter(warmUp()))) {
      purging.start();
      lateness.purge(purging);
    }
    progress.accept(SERVICE + ", several instances");
    OrderTimeout second = instance(shop, 2, Map.of());
    try (Instances two = new Instances(List.of(service, second))) {
      try (Instances three = new Instances(List.of(service, second, instance(shop, 3, Map.of())))) {
        three.start();
        lateness.together(three);
        idle(three, "3 instances");
      }
      two.start();
      lateness.crash(two, second);
      second.start();
      lateness.stop(two, second);
    }
    violations.addAll(lateness.violations());
  }

  private static Map<String, String> purgeAfter(Duration start) {
    return Map.of("order-timeout.deadline.purge-interval", start.toSeconds() + "s");
  }

  private static OrderTimeout instance(Shop shop, ServiceProgram program, String suffix) {
    return new OrderTimeout(program, shop, shop.name() + "-" + suffix, Map.of());
  }

  private OrderTimeout instance(Shop shop, int number, Map<String, String> settings) {
    return new OrderTimeout(program, shop, shop.name() + "-" + number, settings);
  }

  private void day() {
    progress.accept(SERVICE + ", a day");
    Shop shop = Shop.open("day", servers);
    try (OrderTimeout service =
        new OrderTimeout(program, shop, shop.name(), DayThroughTable.SETTINGS)) {
      violations.addAll(
          new DayThroughTable(shop, service, scale.day())
              .measure(
                  results.section(
                      "A day of %,d orders passes through the table".formatted(scale.day()),
                      "Retention of an hour; half of the orders are paid, the others cancelled. The"
                          + " hours are shortened: a statement makes the orders of each an hour older"
                          + " once they are settled."),
                  SERVICE,
                  nextNumber()));
    }
  }

  /** Measures the first start on old topics; returns what is wrong with the cancellations. */
  public List<String> firstStart() {
    Section section =
        results.section(
            "A first start on topics with old records",
            "From the start of the process. The records span two days; the last orders are created"
                + " just before the start and are due at once.");
    String paid = "%,d records: orders and their payments".formatted(scale.firstStart());
    progress.accept(SERVICE + ", first start, " + paid);
    violations.addAll(
        new FirstStart(Shop.open("first-start", servers), program, section, paid)
            .withPaidOrders(nextNumber(), scale.firstStart()));
    int payments = Math.min(scale.firstStart(), OLD_PAYMENTS);
    String alone = "%,d payments of unknown orders".formatted(payments);
    progress.accept(SERVICE + ", first start, " + alone);
    violations.addAll(
        new FirstStart(Shop.open("payments-alone", servers), program, section, alone)
            .withPaymentsAlone(nextNumber(), payments));
    return List.copyOf(violations);
  }

  private void compare(Peer peer) {
    progress.accept(peer.title());
    Shop shop = Shop.open(peer.name().toLowerCase(Locale.ROOT).replace('_', '-'), servers);
    try (PeerProcess process = new PeerProcess(peer, program.heap(), shop)) {
      process.start();
      List<String> found = new ArrayList<>();
      found.addAll(
          steady(shop, process)
              .measure(steadySection(), peer.title(), nextNumber())
              .violationsWithoutCrash());
      found.addAll(
          new DueBurst(shop, process, scale.burst())
              .measure(burstSection(), peer.title(), nextNumber(), lead()));
      found.forEach(each -> steadySection().note(peer.title() + ": " + each));
    }
  }

  private void firstBurst(Shop shop, Contender contender, String row) {
    Section section =
        results.section(
            "%,d orders due at once in the first minute of the process".formatted(smallBurst()),
            "From their common deadline to Kafka's append time of their cancellations.");
    violations.addAll(
        new DueBurst(shop, contender, smallBurst()).measure(section, row, nextNumber(), lead()));
  }

  private int smallBurst() {
    return scale.burst() / SMALL_BURST_SHARE;
  }

  private void lateness(Shop shop, Contender service, String stored) {
    violations.addAll(
        steady(shop, service)
            .measure(steadySection(), SERVICE + ", " + stored, nextNumber())
            .violationsWithoutCrash());
  }

  private SteadyLateness steady(Shop shop, Contender contender) {
    return new SteadyLateness(shop, contender, openLoop(), warmUp());
  }

  private OpenLoop openLoop() {
    return new OpenLoop(
        scale.duePerSecond() / (1 - PAID_SHARE),
        PAID_SHARE,
        TIMEOUT,
        warmUp().plusSeconds(scale.seconds()));
  }

  private Duration warmUp() {
    return TIMEOUT.plusSeconds(scale.seconds());
  }

  private Section steadySection() {
    return results.section(
        "%,d orders due per second".formatted(scale.duePerSecond()),
        "From the deadline to Kafka's append time of the cancellation, while twice as many orders are"
            + " created and half of them are paid. Costs are for an order from its creation to its end.");
  }

  private void burst(Shop shop, Contender contender) {
    violations.addAll(
        new DueBurst(shop, contender, scale.burst())
            .measure(burstSection(), SERVICE, nextNumber(), lead()));
  }

  private Section burstSection() {
    return results.section(
        "%,d orders due at once".formatted(scale.burst()),
        "From their common deadline to Kafka's append time of their cancellations. Bare statements do"
            + " the same durable work, the events and what records them included.");
  }

  private Duration lead() {
    return Duration.ofSeconds(15 + scale.burst() / 10_000);
  }

  private void wal(Shop shop) {
    new WalPerOrder(shop, scale.burst() / 5)
        .measure(
            results.section(
                "WAL bytes per order", "Without full-page images, in an otherwise idle service."),
            SERVICE,
            nextNumber());
  }

  private void backlog(Shop shop, OrderTimeout service) {
    progress.accept(SERVICE + ", backlog");
    new IntakeBacklog(shop, service, scale.backlog() / 3, scale.backlog())
        .measure(backlogSection(), SERVICE, nextNumber());
  }

  private Section backlogSection() {
    return results.section(
        "A backlog of %,d events".formatted(scale.backlog()),
        "Events per second. Bare statements do the same durable work, without topics, decoding and"
            + " conditions: one connection, the same tables, values and batches.");
  }

  private void idle(Contender service, String stored) {
    progress.accept(SERVICE + ", idle");
    IdleCost.measure(
        servers,
        service,
        Duration.ofSeconds(scale.seconds()),
        results.section(
            "Idle", "Nothing arrives and nothing is due, and nothing has for as long before."),
        SERVICE + ", " + stored);
  }

  private void rebuild(Shop shop, OrderTimeout service, String row) throws SQLException {
    Section section =
        results.section(
            "Start after a crash",
            "From the start of the process until it serves its shards; the rebuild of the wheels is part"
                + " of it. Some orders came due meanwhile. The bare read reads the same rows through one"
                + " cursor, for the second time.");
    violations.addAll(Rebuild.measure(shop, service, section, row, nextNumber()));
  }

  private void bare(Shop shop) throws SQLException {
    progress.accept(BareStatements.ROW);
    BareStatements bare = new BareStatements(shop, Math.max(10_000, scale.backlog() / 3));
    backlogSection().add(BareStatements.ROW, "created/s", bare.created());
    backlogSection().add(BareStatements.ROW, "paid/s", bare.paid());
    burstSection().add(BareStatements.ROW, "orders/s", bare.cancelled());
  }

  private long nextNumber() {
    numbers += NUMBERS;
    return numbers;
  }
}
