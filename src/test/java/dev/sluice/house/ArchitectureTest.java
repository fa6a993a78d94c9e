package dev.sluice.house;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noFields;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** Arrows between rooms go one way, and the core is pure. */
class ArchitectureTest {

  private static final String HOUSE = "dev.sluice.";

  /** Rooms from the ground up: each may know those of earlier rows, and none of later ones. */
  private static final List<List<String>> FLOORS =
      List.of(
          List.of("model", "api"),
          List.of("quota"),
          List.of("queue"),
          List.of("scheduling"),
          List.of("engine"),
          List.of("workloads"),
          List.of("controllers", "jobs", "checks", "webhooks", "observe"),
          List.of("server", "install"),
          List.of("operator"),
          List.of("cli"));

  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .importPackages("dev.sluice");

  @TestFactory
  Stream<DynamicTest> rules() {
    return Stream.of(upwardArrows(), core(), circles(), state(), pureTime(), auditor())
        .flatMap(each -> each)
        .map(rule -> DynamicTest.dynamicTest(rule.getDescription(), () -> rule.check(CLASSES)));
  }

  private static Stream<ArchRule> upwardArrows() {
    Stream.Builder<ArchRule> rules = Stream.builder();
    for (int floor = 0; floor < FLOORS.size(); floor++) {
      String[] above =
          FLOORS.subList(floor + 1, FLOORS.size()).stream()
              .flatMap(List::stream)
              .map(room -> HOUSE + room + "..")
              .toArray(String[]::new);
      for (String room : FLOORS.get(floor)) {
        rules.add(
            noClasses()
                .that()
                .resideInAPackage(HOUSE + room + "..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(above)
                .allowEmptyShould(true)
                .as(room + " knows nobody above it"));
      }
    }
    return rules.build();
  }

  private static Stream<ArchRule> core() {
    String[] rooms = {
      HOUSE + "model..",
      HOUSE + "quota..",
      HOUSE + "queue..",
      HOUSE + "scheduling..",
      HOUSE + "engine.."
    };
    DescribedPredicate<JavaClass> allowed =
        resideInAnyPackage(rooms)
            .or(resideInAnyPackage("java.lang..", "java.util..", "java.math..", "java.time.."))
            .or(resideInAnyPackage("org.jspecify..", "org.slf4j.."));
    return Stream.of(
        classes()
            .that()
            .resideInAnyPackage(rooms)
            .should()
            .onlyDependOnClassesThat(allowed)
            .as("model to engine know nothing of Kubernetes, clients, files or networks"),
        noClasses()
            .that(resideInAnyPackage(rooms))
            .should()
            .dependOnClassesThat(resideInAPackage(HOUSE + "api.."))
            .as("the core doesn't know the API's types"));
  }

  private static Stream<ArchRule> circles() {
    return Stream.of(
        slices()
            .matching(HOUSE + "(*)..")
            .should()
            .beFreeOfCycles()
            .as("no two rooms know each other"));
  }

  private static Stream<ArchRule> state() {
    return Stream.of(
        noFields()
            .that()
            .areStatic()
            .should()
            .haveModifier(JavaModifier.VOLATILE)
            .orShould()
            .notBeFinal()
            .allowEmptyShould(true)
            .as("no static state"));
  }

  private static Stream<ArchRule> pureTime() {
    return Stream.of(
        noClasses()
            .that()
            .resideInAnyPackage(
                HOUSE + "model..", HOUSE + "quota..", HOUSE + "queue..", HOUSE + "scheduling..")
            .should()
            .callMethod(System.class, "nanoTime")
            .orShould()
            .callMethod(System.class, "currentTimeMillis")
            .orShould()
            .callMethod(java.time.Instant.class, "now")
            .as("the core reads no clock"));
  }

  private static Stream<ArchRule> auditor() {
    String room = HOUSE + "cli.audit..";
    return Stream.of(
        noClasses()
            .that()
            .resideInAPackage(room)
            .should()
            .dependOnClassesThat(
                resideInAPackage("dev.sluice..")
                    .and(DescribedPredicate.not(resideInAPackage(room))))
            .as("the auditor shares nothing with what it audits"));
  }
}
