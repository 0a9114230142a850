package io.ordertimeout.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.model.ModelChecker.Outcome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/**
 * Checks the specification of the protocol in every state that it can reach: the promises hold, no
 * safeguard can be left out, and every action can happen. The README of this module explains the
 * specification.
 */
@Timeout(value = 1, unit = TimeUnit.HOURS)
class ModelIT {

  /**
   * A specification without one of its safeguards.
   *
   * @param safeguard the safeguard that is taken away
   * @param configuration the configuration in which it is needed
   * @param violated the promise that is broken without it
   */
  record Mutant(String safeguard, String configuration, String violated) {}

  /** The longest first. */
  static final List<String> CONFIGURATIONS =
      List.of(
          "SplitBrain",
          "SecondPayment",
          "Failback",
          "FleetFailback",
          "Handover",
          "TwoFailovers",
          "Owners",
          "Progress",
          "Closings",
          "BeingPaid",
          "Postponed",
          "FirstStart",
          "Failover",
          "RestoredDump",
          "Growth",
          "Recreation",
          "Transactions",
          "Rows",
          "Purge");

  /** The actions of large configurations are not counted, which would take almost as long again. */
  private static final Set<String> UNCOUNTED =
      Set.of(
          "SplitBrain",
          "SecondPayment",
          "Failback",
          "FleetFailback",
          "Handover",
          "TwoFailovers",
          "Progress",
          "BeingPaid");

  /** Configurations with actions that no counted one has: they happen in the first steps. */
  private static final Set<String> COUNTED_IN_SHORT_PATHS =
      Set.of("SplitBrain", "FleetFailback", "Handover", "BeingPaid");

  static final List<Mutant> MUTANTS =
      List.of(
          new Mutant("TimeBeforeEnds", "Owners", "P3_PaymentInTimeNeverOverridden"),
          new Mutant("EndsOfClosings", "Closings", "P3_PaymentInTimeNeverOverridden"),
          new Mutant("EndsOfAttempts", "BeingPaid", "P3_NotCancelledWhileBeingPaid"),
          new Mutant("HoldInStatement", "BeingPaid", "P3_NotCancelledWhileBeingPaid"),
          new Mutant("CapOnHolds", "BeingPaid", ModelChecker.PROGRESS),
          new Mutant("EndsOfChanges", "Postponed", "P3_PostponedNotCancelled"),
          new Mutant("KeepEarlyChanges", "Postponed", "P3_PostponedNotCancelled"),
          new Mutant("EndsOfAllPartitions", "Growth", "P3_PaymentInTimeNeverOverridden"),
          new Mutant("EndsOfEverythingAppended", "Transactions", "P3_PaymentInTimeNeverOverridden"),
          new Mutant("PositionsInStatement", "Failover", "P3_PaymentInTimeNeverOverridden"),
          new Mutant("TopicIds", "Recreation", "P3_PaymentInTimeNeverOverridden"),
          new Mutant("ComparePositions", "Rows", "P1_NoDeadlineLost"),
          new Mutant("PositionsWithRows", "Owners", "P1_NoDeadlineLost"),
          new Mutant("StartAtBeginning", "FirstStart", "P3_PaymentInTimeNeverOverridden"),
          new Mutant("OnlyPending", "Owners", "P3_PaymentInTimeNeverOverridden"),
          new Mutant("OutboxWithDecision", "Owners", "P4_DecisionsArePublished"),
          new Mutant("RecordByKey", "Rows", "P4_DecisionsArePublished"),
          new Mutant("DecideAfterReadBack", "Failover", "P2_PublishedDecisionNeverChanges"),
          new Mutant("StoreOnKnownServer", "Progress", ModelChecker.PROGRESS),
          new Mutant("TablesInIdentity", "RestoredDump", "P2_PublishedDecisionNeverChanges"),
          new Mutant("ForgetOnNewServer", "FleetFailback", "P2_PublishedDecisionNeverChanges"),
          new Mutant("ReadBack", "Failover", "P2_PublishedDecisionNeverChanges"),
          new Mutant("CompleteOnSameServer", "TwoFailovers", "P2_PublishedDecisionNeverChanges"),
          new Mutant("ReadOn", "Failover", "P2_PublishedDecisionNeverChanges"),
          new Mutant("ReadOn", "SplitBrain", "P2_PublishedDecisionNeverChanges"),
          new Mutant("ReadOn", "Failback", "P2_PublishedDecisionNeverChanges"),
          new Mutant("OnlyReaderAdvances", "Failover", "P2_Reflected"),
          new Mutant("RestoreOrderOfConflict", "Failover", "P6_NoConflictWithoutReason"),
          new Mutant("CorrectConflicts", "Closings", "P6_PublishedConflictNeverChanges"),
          new Mutant("PublishAfterReadBack", "Closings", "P6_PublishedConflictNeverChanges"),
          new Mutant("KeepSecondPayments", "SecondPayment", "P6_LateMoneyHasConflict"),
          new Mutant("PositionsFirst", "Handover", ModelChecker.PROGRESS),
          new Mutant("ReadAgain", "Handover", ModelChecker.PROGRESS),
          new Mutant("RebuildOnNewServer", "Progress", ModelChecker.PROGRESS),
          new Mutant("PurgeAfterDeadline", "Purge", "P3_PaymentInTimeNeverOverridden"));

  /** One check at a time, on one core: other tests run meanwhile. */
  private static final ExecutorService WORKER = Executors.newSingleThreadExecutor();

  private static final Map<Object, CompletableFuture<Outcome>> CHECKS = new ConcurrentHashMap<>();

  @BeforeAll
  static void checkEverything() {
    for (String configuration : CONFIGURATIONS) {
      CHECKS.put(
          configuration,
          CompletableFuture.supplyAsync(
              () ->
                  UNCOUNTED.contains(configuration)
                      ? ModelChecker.check(configuration)
                      : ModelChecker.checkAndCount(configuration),
              WORKER));
    }
    for (String configuration : COUNTED_IN_SHORT_PATHS) {
      CHECKS.put(
          shortPathsOf(configuration),
          CompletableFuture.supplyAsync(
              () -> ModelChecker.countInShortPaths(configuration), WORKER));
    }
    for (Mutant mutant : MUTANTS) {
      CHECKS.put(
          mutant,
          CompletableFuture.supplyAsync(
              () -> ModelChecker.checkWithout(mutant.safeguard(), mutant.configuration()), WORKER));
    }
  }

  @AfterAll
  static void stop() {
    WORKER.shutdownNow();
  }

  @ParameterizedTest(name = "{0}")
  @FieldSource("CONFIGURATIONS")
  void thePromisesHold(String configuration) {
    Outcome outcome = outcome(configuration);
    assertThat(outcome.violated())
        .as("broken promise; the steps that lead there are in %s", outcome.log())
        .isNull();
  }

  @ParameterizedTest(name = "{0}")
  @FieldSource("MUTANTS")
  void withoutASafeguardAPromiseIsBroken(Mutant mutant) {
    Outcome outcome = outcome(mutant);
    assertThat(outcome.violated()).as("see %s", outcome.log()).isEqualTo(mutant.violated());
  }

  @Test
  void everySafeguardHasAMutant() throws IOException {
    assertThat(MUTANTS.stream().map(Mutant::safeguard).collect(Collectors.toSet()))
        .isEqualTo(safeguards());
  }

  /** An action that can never happen would make the promises hold for nothing. */
  @Test
  void everyActionHappens() throws IOException {
    Map<String, Long> taken = new TreeMap<>();
    Stream.concat(
            CONFIGURATIONS.stream(), COUNTED_IN_SHORT_PATHS.stream().map(ModelIT::shortPathsOf))
        .map(check -> outcome(check).taken())
        .forEach(
            counts -> counts.forEach((action, count) -> taken.merge(action, count, Long::sum)));
    taken.values().removeIf(count -> count == 0);
    assertThat(taken.keySet()).containsAll(actions());
  }

  @Test
  void everyConfigurationIsChecked() throws IOException {
    try (Stream<Path> files = Files.list(ModelChecker.DIRECTORY)) {
      assertThat(
              files
                  .map(file -> file.getFileName().toString())
                  .filter(name -> name.endsWith(".cfg"))
                  .map(name -> name.replace(".cfg", "")))
          .containsExactlyInAnyOrderElementsOf(CONFIGURATIONS);
    }
  }

  @Test
  void theReadmeExplainsEveryActionPromiseAndSafeguard() throws IOException {
    String readme = Files.readString(Path.of("README.md"));
    Set<String> names = new TreeSet<>(actions());
    names.addAll(safeguards());
    names.addAll(CONFIGURATIONS);
    names.addAll(matches("(?m)^(P\\d_\\w+) =="));
    assertThat(names).allSatisfy(name -> assertThat(readme).contains("`" + name + "`"));
  }

  private static Object shortPathsOf(String configuration) {
    return "the short paths of " + configuration;
  }

  private static Outcome outcome(Object check) {
    return Objects.requireNonNull(CHECKS.get(check)).join();
  }

  private static Set<String> safeguards() throws IOException {
    return matches("(?m)^(\\w+) == \"\\1\" \\\\notin Without");
  }

  /** The names of actions, and no others, begin in lower case. */
  private static Set<String> actions() throws IOException {
    return matches("(?m)^([a-z]\\w+)(?:\\([^)]*\\))? ==");
  }

  private static Set<String> matches(String pattern) throws IOException {
    String specification =
        Files.readString(ModelChecker.DIRECTORY.resolve(ModelChecker.MODULE + ".tla"));
    Set<String> found = new TreeSet<>();
    for (Matcher matcher = Pattern.compile(pattern).matcher(specification); matcher.find(); ) {
      found.add(matcher.group(1));
    }
    assertThat(found).as(pattern).isNotEmpty();
    return found;
  }
}
