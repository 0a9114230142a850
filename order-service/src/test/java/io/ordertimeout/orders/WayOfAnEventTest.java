package io.ordertimeout.orders;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** The packages are the way of an event, and dependencies point along it. */
@AnalyzeClasses(
    packages = "io.ordertimeout.orders",
    importOptions = ImportOption.DoNotIncludeTests.class)
class WayOfAnEventTest {

  private static final String ORDERS = "io.ordertimeout.orders";

  @ArchTest
  static final ArchRule dependenciesPointAlongTheWay =
      layeredArchitecture()
          .consideringOnlyDependenciesInLayers()
          .layer("intake")
          .definedBy(ORDERS + ".intake")
          .layer("deadline")
          .definedBy(ORDERS + ".deadline")
          .layer("shard")
          .definedBy(ORDERS + ".shard")
          .layer("expiry")
          .definedBy(ORDERS + ".expiry")
          .layer("outbox")
          .definedBy(ORDERS + ".outbox")
          .layer("operator")
          .definedBy(ORDERS + ".operator")
          .layer("api")
          .definedBy(ORDERS + ".api")
          .layer("access")
          .definedBy(ORDERS + ".access")
          .whereLayer("api")
          .mayNotBeAccessedByAnyLayer()
          .whereLayer("access")
          .mayNotBeAccessedByAnyLayer()
          .whereLayer("operator")
          .mayOnlyBeAccessedByLayers("api")
          .whereLayer("intake")
          .mayOnlyBeAccessedByLayers("operator", "api")
          .whereLayer("shard")
          .mayOnlyBeAccessedByLayers("intake", "operator")
          .whereLayer("deadline")
          .mayOnlyBeAccessedByLayers("intake", "shard", "operator", "api")
          .whereLayer("expiry")
          .mayOnlyBeAccessedByLayers("intake", "shard", "operator", "api")
          .whereLayer("outbox")
          .mayOnlyBeAccessedByLayers("intake", "deadline", "shard", "expiry", "operator");

  @ArchTest
  static final ArchRule noStepLeadsBack =
      slices().matching(ORDERS + ".(*)..").should().beFreeOfCycles();

  @ArchTest
  static final ArchRule packagesAreFlat =
      classes().should().resideInAnyPackage(ORDERS, ORDERS + ".*");

  @ArchTest
  static final ArchRule whatIsSharedKnowsNoStep =
      noClasses()
          .that()
          .resideInAPackage(ORDERS)
          .should()
          .dependOnClassesThat(resideInAPackage(ORDERS + ".*"));

  @ArchTest
  static final ArchRule kafkaIsReadByTheIntakeAlone =
      noClasses()
          .that()
          .resideOutsideOfPackage(ORDERS + ".intake")
          .should()
          .dependOnClassesThat(resideInAPackage("org.apache.kafka.clients.consumer"));

  @ArchTest
  static final ArchRule nothingAsksTheWallClock =
      noClasses()
          .should()
          .callMethod(System.class, "currentTimeMillis")
          .orShould()
          .callMethod(java.time.Instant.class, "now");
}
