package io.ordertimeout.orders;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.library.Architectures;
import com.tngtech.archunit.library.Architectures.LayeredArchitecture;
import java.util.List;
import java.util.stream.Stream;

/** The packages are the steps of an event's way, and no dependency points back along it. */
@AnalyzeClasses(
    packages = "io.ordertimeout.orders",
    importOptions = ImportOption.DoNotIncludeTests.class)
class WayOfAnEventTest {

  private static final String ORDERS = "io.ordertimeout.orders";

  /** Each package may use the packages after it, and none before it. */
  private static final List<String> FROM_THE_TOP =
      List.of(
          "access",
          "access.session",
          "api",
          "operator",
          "operator.status",
          "intake",
          "intake.deadletter",
          "intake.decoding",
          "shard",
          "expiry",
          "watermark",
          "readback",
          "relay",
          "order",
          "outbox",
          "position",
          "suspension",
          "audit",
          "platform.tracing",
          "platform.avro",
          "platform.values",
          "platform.kafka",
          "platform.postgres",
          "platform.loop",
          "platform.monitoring");

  @ArchTest static final ArchRule noDependencyPointsBack = layers();

  private static ArchRule layers() {
    LayeredArchitecture layers =
        Architectures.layeredArchitecture().consideringOnlyDependenciesInLayers();
    for (String name : FROM_THE_TOP) {
      layers = layers.layer(name).definedBy(ORDERS + "." + name);
    }
    for (int i = 0; i < FROM_THE_TOP.size(); i++) {
      String[] before = FROM_THE_TOP.subList(0, i).toArray(String[]::new);
      layers =
          before.length == 0
              ? layers.whereLayer(FROM_THE_TOP.get(i)).mayNotBeAccessedByAnyLayer()
              : layers.whereLayer(FROM_THE_TOP.get(i)).mayOnlyBeAccessedByLayers(before);
    }
    return layers;
  }

  @ArchTest
  static final ArchRule noPackageIsPartOfACycle =
      slices().matching(ORDERS + ".(**)").should().beFreeOfCycles();

  @ArchTest
  static final ArchRule everyPackageHasItsPlace =
      classes()
          .should()
          .resideInAnyPackage(
              Stream.concat(
                      Stream.of(ORDERS), FROM_THE_TOP.stream().map(name -> ORDERS + "." + name))
                  .toArray(String[]::new));

  @ArchTest
  static final ArchRule whatIsSharedKnowsNoStep =
      noClasses()
          .that()
          .resideInAPackage(ORDERS)
          .and()
          .areNotAssignableTo(OrderServiceApplication.class)
          .should()
          .dependOnClassesThat(resideInAPackage(ORDERS + ".*.."));

  @ArchTest
  static final ArchRule kafkaIsReadByTheIntakeAndTheReadBackAlone =
      noClasses()
          .that(
              resideInAnyPackage(
                      ORDERS + ".intake..", ORDERS + ".readback", ORDERS + ".platform.kafka")
                  .negate()
                  .as("outside of the intake and the read-back"))
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
