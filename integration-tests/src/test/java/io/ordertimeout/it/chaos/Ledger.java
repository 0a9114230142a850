package io.ordertimeout.it.chaos;

import io.ordertimeout.it.oracle.Verdict;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The account of a run: what was done to the service, and how it fared. */
final class Ledger {

  private static final Logger log = LoggerFactory.getLogger(Ledger.class);

  private final Instant start = Instant.now();
  private final List<String> events = new ArrayList<>();
  private String verdict = "verdict: none, because the run failed";

  void event(String what) {
    double seconds = Duration.between(start, Instant.now()).toMillis() / 1e3;
    String line = "  %6.1f s  %s".formatted(seconds, what);
    events.add(line);
    log.info(line);
  }

  /** Records the end of a run; one that failed before has none. */
  void verdict(Verdict judged, long groupGeneration) {
    verdict = "generation %d of the consumer group\n  %s".formatted(groupGeneration, judged);
  }

  /** Logs the account in one block. */
  void print(FaultScript script, Recovery recovery, FaultInjector injector, Fleet fleet)
      throws IOException {
    log.info(
        "{}\n  {} faults: {}\n  {}\n  {} row changes lost by failovers and restored dumps\n"
            + "  {} instances started, {} of them ended on their own;"
            + " {} orders repaired by the reconciler, {} errors about repairs logged\n  {}",
        String.join("\n", events),
        script.count(),
        script.drawn(),
        recovery,
        injector.lostChanges(),
        fleet.started(),
        fleet.endedThemselves(),
        (long) fleet.repaired(),
        fleet.loggedRepairs().size(),
        verdict);
  }
}
