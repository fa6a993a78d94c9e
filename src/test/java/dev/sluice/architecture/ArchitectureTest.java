package dev.sluice.architecture;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noFields;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * Dependencies between packages go one way, and the core is pure. No rule may pass by matching
 * nothing: a package that is renamed or added has to be named here.
 */
@Order(3) // long ones begin early
class ArchitectureTest {

  private static final String ROOT = "dev.sluice.";

  /**
   * From the ground up: a package may depend on those of earlier rows and on none of later ones.
   */
  private static final List<List<String>> LAYERS =
      List.of(
          List.of("core"),
          List.of("api"),
          List.of("kube"),
          List.of("workload"),
          List.of("accounting"),
          List.of("queues"),
          List.of("jobs", "metrics", "topology", "visibility"),
          List.of("checks", "webhooks", "kubequeue"),
          List.of("server", "install"),
          List.of("dashboard"),
          List.of("app"),
          List.of("lab"));

  /** The same inside the core. */
  private static final List<List<String>> CORE_LAYERS =
      List.of(
          List.of("core.model"),
          List.of("core.quota", "core.topology"),
          List.of("core.queue"),
          List.of("core.scheduling"),
          List.of("core.engine"));

  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .importPackages("dev.sluice");

  @Test
  void everyPackageIsInALayer() {
    Set<String> named = new TreeSet<>(LAYERS.stream().flatMap(List::stream).toList());
    assertThat(packages(1)).as("top-level packages").isEqualTo(named);
    Set<String> core = new TreeSet<>(CORE_LAYERS.stream().flatMap(List::stream).toList());
    Set<String> present = new TreeSet<>(packages(2));
    present.removeIf(name -> !name.startsWith("core."));
    assertThat(present).as("packages of the core").isEqualTo(core);
  }

  /** Names of packages below the root, cut to so many parts. */
  private static Set<String> packages(int depth) {
    Set<String> names = new TreeSet<>();
    for (JavaClass each : CLASSES) {
      if (each.getPackageName().length() > ROOT.length()) {
        String[] parts = each.getPackageName().substring(ROOT.length()).split("\\.", -1);
        if (parts.length >= depth) {
          names.add(String.join(".", List.of(parts).subList(0, depth)));
        }
      } else {
        names.add("(root)");
      }
    }
    return names;
  }

  @TestFactory
  Stream<DynamicTest> rules() {
    return Stream.of(
            upward(LAYERS), upward(CORE_LAYERS), core(), cycles(), state(), pureTime(), auditor())
        .flatMap(each -> each)
        .map(rule -> DynamicTest.dynamicTest(rule.getDescription(), () -> rule.check(CLASSES)));
  }

  private static Stream<ArchRule> upward(List<List<String>> layers) {
    Stream.Builder<ArchRule> rules = Stream.builder();
    for (int layer = 0; layer < layers.size() - 1; layer++) {
      String[] above =
          layers.subList(layer + 1, layers.size()).stream()
              .flatMap(List::stream)
              .map(name -> ROOT + name + "..")
              .toArray(String[]::new);
      for (String name : layers.get(layer)) {
        rules.add(
            noClasses()
                .that()
                .resideInAPackage(ROOT + name + "..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(above)
                .as(name + " depends on nothing above it"));
      }
    }
    return rules.build();
  }

  private static Stream<ArchRule> core() {
    DescribedPredicate<JavaClass> allowed =
        resideInAPackage(ROOT + "core..")
            .or(resideInAnyPackage("java.lang..", "java.util..", "java.math..", "java.time.."))
            .or(resideInAnyPackage("org.jspecify..", "org.slf4j.."));
    return Stream.of(
        classes()
            .that()
            .resideInAPackage(ROOT + "core..")
            .should()
            .onlyDependOnClassesThat(allowed)
            .as("the core depends on the JDK only, and does no I/O"));
  }

  private static Stream<ArchRule> cycles() {
    return Stream.of(
        slices()
            .matching(ROOT + "(*)..")
            .should()
            .beFreeOfCycles()
            .as("no two packages depend on each other"));
  }

  private static Stream<ArchRule> state() {
    return Stream.of(
        noFields()
            .that()
            .areStatic()
            .should(beMutable())
            .as("static fields are final and not volatile"));
  }

  private static ArchCondition<JavaField> beMutable() {
    return new ArchCondition<>("be mutable") {
      @Override
      public void check(JavaField field, ConditionEvents events) {
        boolean mutable =
            field.getModifiers().contains(JavaModifier.VOLATILE)
                || !field.getModifiers().contains(JavaModifier.FINAL);
        events.add(new SimpleConditionEvent(field, mutable, field.getFullName()));
      }
    };
  }

  private static Stream<ArchRule> pureTime() {
    return Stream.of(
        noClasses()
            .that()
            .resideInAPackage(ROOT + "core..")
            .and()
            .haveSimpleNameNotEndingWith("SchedulerThread")
            .should()
            .callMethod(System.class, "nanoTime")
            .orShould()
            .callMethod(System.class, "currentTimeMillis")
            .orShould()
            .callMethod(java.time.Instant.class, "now")
            .as("the core reads no clock"));
  }

  private static Stream<ArchRule> auditor() {
    String audit = ROOT + "lab.audit..";
    return Stream.of(
        noClasses()
            .that()
            .resideInAPackage(audit)
            .should()
            .dependOnClassesThat(
                resideInAPackage("dev.sluice..")
                    .and(DescribedPredicate.not(resideInAPackage(audit))))
            .as("the auditor shares nothing with what it audits"));
  }
}
