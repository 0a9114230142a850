package io.ordertimeout.orders.benchmarks;

import io.ordertimeout.orders.benchmarks.contender.Peer;
import io.ordertimeout.orders.benchmarks.measurement.Scale;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * The options of the command line.
 *
 * @param scale how large and long the measurements are
 * @param runs how often everything is measured
 * @param firstStartOnly whether nothing but the first start on old topics is measured
 * @param partitions of each topic
 * @param peers with what the service is compared
 * @param serviceJar the service
 * @param heap the maximum heap of each contender
 * @param jvmOptions further options of the service's JVM
 * @param directory for data and logs
 * @param out the report, without the extension of its file name
 */
record Options(
    Scale scale,
    int runs,
    boolean firstStartOnly,
    int partitions,
    List<Peer> peers,
    Path serviceJar,
    String heap,
    List<String> jvmOptions,
    Path directory,
    Path out) {

  static final String USAGE =
      """
      java -jar order-benchmarks.jar [options]
        --quick              only check that everything runs, and print rough ratios
        --pending=N          stored pending orders of the large stage (default 5000000; 0: no such stage)
        --settled=N          stored settled orders of the large stage (default 10000000)
        --due=N              orders that come due per second under steady load (default 500)
        --seconds=N          duration of the steady load (default 60)
        --burst=N            orders that come due at once (default 100000)
        --backlog=N          events of a backlog (default 600000)
        --rush=N             orders created per second during a rush (default 20000; 0: no disturbances)
        --day=N              orders of a day that passes through the table (default 1000000; 0: no such day)
        --first-start=N      old records that the first start of a shop finds (default 1000000; 0: no such start)
        --first-start-only   measure nothing else
        --starts=N           starts without a crash, of each kind (default 3)
        --partitions=N       partitions of each topic, and so shards (default 6)
        --runs=N             how often everything is measured (default 1)
        --peers=A,B          polling_job, db_scheduler, quartz, job_runr; or none (default: all)
        --service-jar=FILE   default order-service/target/order-service.jar
        --heap=1g            maximum heap of each contender
        --jvm-options=A,B    further options of the service's JVM
        --directory=DIR      data and logs (default: a temporary directory, kept if anything fails)
        --out=FILE           report, without extension (default benchmarks)
      """;

  /**
   * Parses the command line.
   *
   * @throws IllegalArgumentException if it is invalid
   */
  static Options of(Path temporary, String... arguments) {
    Scale scale = Arrays.asList(arguments).contains("--quick") ? Scale.QUICK : Scale.DEFAULT;
    int runs = 1;
    boolean firstStartOnly = false;
    int partitions = 6;
    List<Peer> peers = List.of(Peer.values());
    Path serviceJar = Path.of("order-service", "target", "order-service.jar");
    String heap = "1g";
    List<String> jvmOptions = List.of();
    Path directory = temporary;
    Path out = Path.of("benchmarks");
    for (String argument : arguments) {
      int equals = argument.indexOf('=') + 1;
      String value = argument.substring(equals);
      switch (argument.substring(0, equals)) {
        case "--pending=" -> scale = scale.withPending(number(argument, value));
        case "--settled=" -> scale = scale.withSettled(number(argument, value));
        case "--due=" -> scale = scale.withDuePerSecond(number(argument, value));
        case "--seconds=" -> scale = scale.withSeconds(number(argument, value));
        case "--burst=" -> scale = scale.withBurst(number(argument, value));
        case "--backlog=" -> scale = scale.withBacklog(number(argument, value));
        case "--rush=" -> scale = scale.withRush(number(argument, value));
        case "--day=" -> scale = scale.withDay(number(argument, value));
        case "--first-start=" -> scale = scale.withFirstStart(number(argument, value));
        case "--starts=" -> scale = scale.withStarts(number(argument, value));
        case "--partitions=" -> partitions = number(argument, value);
        case "--runs=" -> runs = number(argument, value);
        case "--peers=" -> peers = peers(value);
        case "--service-jar=" -> serviceJar = Path.of(value);
        case "--heap=" -> heap = value;
        case "--jvm-options=" -> jvmOptions = List.of(value.split(",", -1));
        case "--directory=" -> directory = Path.of(value).toAbsolutePath();
        case "--out=" -> out = Path.of(value);
        default -> {
          if (argument.equals("--first-start-only")) {
            firstStartOnly = true;
          } else if (!argument.equals("--quick")) {
            throw new IllegalArgumentException("Unknown option: " + argument);
          }
        }
      }
    }
    return new Options(
        scale,
        runs,
        firstStartOnly,
        partitions,
        peers,
        serviceJar,
        heap,
        jvmOptions,
        directory,
        out);
  }

  private static List<Peer> peers(String value) {
    return value.equals("none")
        ? List.of()
        : Arrays.stream(value.split(",", -1)).map(Options::peer).toList();
  }

  private static Peer peer(String name) {
    try {
      return Peer.valueOf(name.toUpperCase(Locale.ROOT));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "Unknown peer: " + name + "; there are " + Arrays.toString(Peer.values()), e);
    }
  }

  private static int number(String argument, String value) {
    try {
      int number = Integer.parseInt(value);
      if (number >= 0) {
        return number;
      }
    } catch (NumberFormatException e) {
      // Reported below.
    }
    throw new IllegalArgumentException("A number of at least 0 is needed: " + argument);
  }
}
