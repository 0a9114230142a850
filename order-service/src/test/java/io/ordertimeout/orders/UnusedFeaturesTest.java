package io.ordertimeout.orders;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import jakarta.persistence.EntityManager;
import org.springframework.data.domain.Pageable;
import org.springframework.data.domain.Sort;
import org.springframework.web.bind.annotation.RestController;

/** Nothing needs the features of Spring that are turned off, so that the service starts faster. */
@AnalyzeClasses(
    packages = "io.ordertimeout.orders",
    importOptions = ImportOption.DoNotIncludeTests.class)
class UnusedFeaturesTest {

  @ArchTest
  static final ArchRule noAspects =
      noClasses()
          .should()
          .dependOnClassesThat()
          .resideInAPackage("org.aspectj..")
          .because("spring.aop.auto is false");

  @ArchTest
  static final ArchRule onlySpringDataUsesTheEntityManager =
      noClasses()
          .should()
          .dependOnClassesThat()
          .areAssignableTo(EntityManager.class)
          .because("spring.persistence.exceptiontranslation.enabled is false");

  @ArchTest
  static final ArchRule noRequestHasAParameterOfSpringData =
      noClasses()
          .that()
          .areAnnotatedWith(RestController.class)
          .should()
          .dependOnClassesThat()
          .areAssignableTo(Pageable.class)
          .orShould()
          .dependOnClassesThat()
          .areAssignableTo(Sort.class)
          .because("DataWebAutoConfiguration is excluded");
}
