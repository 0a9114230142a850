package io.ordertimeout.engine;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

@AnalyzeClasses(packages = "io.ordertimeout.engine", importOptions = DoNotIncludeTests.class)
class ArchitectureTest {

  @ArchTest
  static final ArchRule ENGINE_DEPENDS_ONLY_ON_JAVA =
      classes()
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage(
              "io.ordertimeout.engine", "java..", "org.jctools..", "org.jspecify..");

  @ArchTest
  static final ArchRule TYPES_ARE_FINAL_OR_INTERFACES =
      classes()
          .that()
          .areNotInterfaces()
          .should()
          .haveModifier(com.tngtech.archunit.core.domain.JavaModifier.FINAL);
}
