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
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.EvaluationResult;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import dev.sluice.testing.SourceTrees;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
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
          List.of("workload", "journal"),
          List.of("accounting", "forecast", "ledger"),
          List.of("queues"),
          List.of("jobs", "metrics", "topology", "visibility"),
          List.of("checks", "webhooks", "kubequeue"),
          List.of("server", "install"),
          List.of("dashboard"),
          List.of("app"),
          List.of("lab"));

  /**
   * The same inside of each area of several packages: a room may depend on those of earlier rows
   * and on no other. An empty name is the area's own package. A package that isn't named belongs to
   * the room above it.
   */
  private static final Map<String, List<List<String>>> ROOMS =
      Map.ofEntries(
          Map.entry(
              "core",
              rows(
                  "core",
                  "model",
                  "budget quota topology",
                  "queue",
                  "waiting",
                  "scheduling.flavor scheduling.preemption",
                  "backfill reservation scheduling",
                  "engine")),
          Map.entry(
              "api",
              rows(
                  "api",
                  "",
                  "config json v1beta2",
                  "conversion placement queueing sluice v1alpha1")),
          Map.entry(
              "kube",
              rows(
                  "kube",
                  "certificates events json",
                  "client",
                  "leader reflect",
                  "controller",
                  "definitions")),
          Map.entry(
              "workload",
              rows("workload", "record", "devices status reading", "feed", "writing", "lifecycle")),
          Map.entry(
              "forecast",
              rows("forecast", "runtimes", "play trace", "starts", "simulate whatif", "feed")),
          Map.entry("queues", rows("queues", "mapping", "cache status", "", "capacity")),
          Map.entry(
              "jobs",
              rows(
                  "jobs",
                  "kind recovery",
                  "policy",
                  "controller",
                  "kinds.argo kinds.jobset kinds.kubeflow kinds.pod kinds.ray",
                  "kinds.appwrapper kinds.batch kinds.spark kinds.statefulset kinds.trainer",
                  "kinds.leaderworkerset",
                  "kinds importer")),
          Map.entry("visibility", rows("visibility", "", "api", "explain")),
          Map.entry(
              "checks",
              rows(
                  "checks",
                  "controller multikueue.access multikueue.dispatch",
                  "multikueue.remote multikueue.placement provisioning",
                  "multikueue.capacity multikueue.fencing",
                  "multikueue.quota multikueue.sync",
                  "multikueue",
                  "")),
          Map.entry("webhooks", rows("webhooks", "review", "rules", "kinds", "registration")),
          Map.entry("server", rows("server", "http", "certificates", "auth", "endpoints")),
          Map.entry("app", rows("app", "log module", "whatif", "")),
          Map.entry(
              "lab",
              rows(
                  "lab",
                  "audit controlplane.binaries player",
                  "controlplane",
                  "process",
                  "bench demo",
                  "")));

  private static final int LARGEST_PACKAGE = 45;

  private static final JavaClasses CLASSES = ProjectClasses.ALL;

  @Test
  void everyPackageIsInALayer() {
    Set<String> named = new TreeSet<>(LAYERS.stream().flatMap(List::stream).toList());
    assertThat(packages(1)).as("top-level packages").isEqualTo(named);
  }

  @Test
  void everyPackageIsInARoom() {
    Set<String> named = new TreeSet<>();
    ROOMS.values().forEach(rows -> rows.forEach(named::addAll));
    Set<String> present = new TreeSet<>();
    for (JavaClass each : CLASSES) {
      String name = each.getPackageName().substring(ROOT.length());
      if (!each.getSimpleName().equals("package-info") && !isAlone(name)) {
        String room = room(each);
        boolean divided = named.stream().anyMatch(other -> other.startsWith(room + "."));
        present.add(divided ? name : room);
      }
    }
    assertThat(present).isEqualTo(named);
  }

  /** Whether a package is an area that isn't divided. */
  private static boolean isAlone(String name) {
    return !name.contains(".") && !ROOMS.containsKey(name);
  }

  /** The room of a class: the longest name that its package begins with; empty if there is none. */
  private static String room(JavaClass type) {
    String name = type.getPackageName() + ".";
    return ROOMS.values().stream()
        .flatMap(List::stream)
        .flatMap(List::stream)
        .filter(room -> name.startsWith(ROOT + room + "."))
        .max(Comparator.comparingInt(String::length))
        .orElse("");
  }

  private static List<List<String>> rows(String area, String... rows) {
    return Stream.of(rows)
        .map(
            row ->
                Stream.of(row.split(" ", -1))
                    .map(name -> name.isEmpty() ? area : area + "." + name)
                    .toList())
        .toList();
  }

  @Test
  void noPackageIsTooLarge() {
    Map<String, Long> files = new TreeMap<>();
    SourceTrees.main().stream()
        .filter(file -> !file.endsWith("package-info.java"))
        .map(file -> SourceTrees.name(file).replaceFirst("/[^/]*$", "").replace('/', '.'))
        .forEach(name -> files.merge(name, 1L, Long::sum));
    assertThat(files).containsKeys("core.model", "jobs.policy");
    files.values().removeIf(count -> count <= LARGEST_PACKAGE);
    assertThat(files).as("packages of more than %d files", LARGEST_PACKAGE).isEmpty();
  }

  /** What other rooms can see of waiting Workloads: the owner, and the values that it exchanges. */
  @Test
  void waitingWorkloadsHaveOneOwner() {
    Set<String> visible = new TreeSet<>();
    for (JavaClass each : CLASSES) {
      if (each.getPackageName().equals(ROOT + "core.waiting")
          && each.isTopLevelClass()
          && each.getModifiers().contains(JavaModifier.PUBLIC)) {
        visible.add(each.getSimpleName());
      }
    }
    assertThat(visible)
        .containsExactlyInAnyOrder(
            "WaitingWorkloads",
            "Waiting",
            "CycleHeads",
            "AdmissionForecast",
            "PreemptionUpperBound",
            "HeldBack",
            "RepeatedPreemptions",
            "WaitingExport",
            "ExportedNames");
  }

  @Test
  void aDependencyAgainstTheRowsIsFound() {
    ROOMS.forEach(
        (area, rows) ->
            assertThat(inside(rows.reversed()).map(rule -> rule.evaluate(CLASSES)))
                .as("rooms of %s the other way round", area)
                .anyMatch(EvaluationResult::hasViolation));
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
    return Stream.of(upward(LAYERS), rooms(), core(), cycles(), state(), pureTime(), auditor())
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

  private static Stream<ArchRule> rooms() {
    return ROOMS.values().stream().flatMap(ArchitectureTest::inside);
  }

  private static Stream<ArchRule> inside(List<List<String>> rows) {
    Stream.Builder<ArchRule> rules = Stream.builder();
    for (int row = 0; row < rows.size(); row++) {
      for (String room : rows.get(row)) {
        List<String> others =
            rows.subList(row, rows.size()).stream()
                .flatMap(List::stream)
                .filter(name -> !name.equals(room))
                .toList();
        if (!others.isEmpty()) {
          rules.add(
              noClasses()
                  .that(areIn(List.of(room)))
                  .should()
                  .dependOnClassesThat(areIn(others))
                  .as(room + " depends on none of " + others));
        }
      }
    }
    return rules.build();
  }

  private static DescribedPredicate<JavaClass> areIn(List<String> rooms) {
    return DescribedPredicate.describe("are in " + rooms, type -> rooms.contains(room(type)));
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
