package dev.sluice.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.architecture.ProjectRules.Source;
import dev.sluice.testing.SourceTrees;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The rules about names and references: the project keeps them, and each finds a violation. */
class ProjectRulesTest {

  /** Names that describe a type by a picture. docs/names.md has the words to use. */
  private static final Set<String> PICTURES =
      Set.of(
          """
          Absent AccessSource AdmissionWriter AdvicePump AlphaQuotas AmountSums Ancestry
          Around AwaitedFacts Bars Board Cable Carrier CatchingUp CertificateKeeper
          CheckDecisions CheckMessages ClusterBoard ClusterFacts ClusterLink ClusterLinks
          Complaints ConditionNotes CountedResources CycleOrder DecisionSwitch Defects
          Desk Dormitory Elections Elsewhere EngineLoop EngineMailbox EngineQuestions
          EngineRules Errand FactFeed FairOrder FenceKeeper FenceTerms Fences
          FirstJobStory Fitting FlavorMode GatedByRules Gates GroupDecisions GroupMaking
          GroupSituation GroupStep GuardedReading HeldByPriority Holders Holdings
          JobDecisions JobDirectory JobEnding JobFacts JobFile JobMarks JobMirror
          JobNotices JobObjects JobView JobViews KnownPods LateAnswerException
          LeavingWorkloads Leftovers LifecycleDecisions LinkState ListSplitter Listings
          LocalUse LostConnectionException ManagedPods Measures Narrator
          Notices ObjectCarrier Obstacle Orders OwnName OwnWorkloads Pacer Patience
          PendingItem PlainFit PlayedNodes PluginLogin PodCarrier PodDirectory PodMirror
          PodUnit PodView PodViews PoolBoard QueueProblem QueueRoom QueueStanding
          QuotaForest Reach ReadFaults ReadinessGate Remarks Renewals ReservingDecisions
          ReviewedKind RolesForPeople Roster RunsAtOnce SameObjects SentKind SentKinds
          Shortlist Sight Situation Sleepers Standing StartPlan StatusGuard SteadyClock
          StoryCluster StoryClusters StoryException StoryJob StoryMember StoryObjects
          Surroundings SwappableKeyManager Telling Tokens Turns UnitQueue Untold Unusable
          UseHistory UseLine Verdict Verdicts VersionGoneException VictimSearch Visit
          WaitingDecisions WarmUpSamples WhileConnected WithoutQueue WorkGate
          WorkloadCensus WorkloadMatch WorkloadNews WorkloadUpkeep World WorldChecks
          WorldFacts WorldFeed WorldInformers WorldLookups WorldQueues WriteLanes
          WrittenStatuses
          """
              .trim()
              .split("\\s+", -1));

  /** Nested types that have the name of another type today. No name may be added. */
  private static final Set<String> SHADOWING =
      Set.of("CachedWorkload.Assignment", "EquivalenceClass.Bundle");

  /**
   * What takes more values by position than the rule allows today. The list may only shrink: an
   * entry that is no longer needed fails the test, too.
   */
  private static final List<String> WIDE =
      """
      constructor ActionExecutor 13
      constructor Assignment 10
      constructor CachedWorkload 12
      constructor CachedWorkload.Status 9
      constructor ClusterQueueReconciler 9
      constructor ClusterQueueSpec 11
      constructor ClusterQueueSpec 13
      constructor ClusterQueueView 9
      constructor DecisionExecutor 10
      constructor DecisionExecutor 9
      constructor JobControllerContext 9
      constructor ManagerState 9
      constructor MultiKueueClusterReconciler 9
      constructor ObjectAdapter 9
      constructor PendingReasonReporter 9
      constructor QuotaHolder 12
      constructor QuotaHolder 9
      constructor ReservingWorkload 11
      constructor ReservingWorkload 12
      constructor ReservingWorkload 14
      constructor SchedulerEvent.PendingWorkload 10
      constructor SchedulerEvent.PendingWorkload 12
      constructor WorkloadLifecycle 9
      method Replacement.replace 8
      record Assignment 11
      record CachedJob 13
      record CachedRequest 13
      record CachedWorkload 13
      record CachedWorkload.Status 10
      record ClusterQueue.ClusterQueueSpec 11
      record ClusterQueueSpec 16
      record ClusterQueueView 10
      record Configuration 25
      record FailedNodeController.Dependencies 9
      record FailureRecoveryController.TerminatingPod 9
      record FencingController.Dependencies 10
      record Figures 15
      record FlavorRejection.TopologyShortage 12
      record InformerCaches 10
      record JobControllerContext 10
      record JobReconciler.Dependencies 9
      record LocalQueueView 9
      record ManagerState 10
      record MultiKueueControllers.Dependencies 15
      record MultiKueueWorkloadReconciler.Options 14
      record PodTemplate 10
      record ProvisioningControllers.Dependencies 13
      record ProvisioningReconciler.Dependencies 10
      record QueueControllers.Dependencies 11
      record QuotaDeclaration 9
      record ReservingWorkload 16
      record SchedulerEvent.PendingWorkload 13
      record TopologyPod 12
      record WebhookRouter.AdmissionRequest 11
      """
          .lines()
          .toList();

  /**
   * Fields and parameters of today that have no word of their type. The list may only shrink: an
   * entry that is no longer needed fails the test, too. With {@code -Dsluice.rules.write=true} the
   * test takes such entries out, and adds none.
   */
  private static final Path FOREIGN_VARIABLES =
      Path.of("it/src/test/resources/dev/sluice/architecture/foreign-variables.txt");

  private static final int MOST_FILES = 1_190;

  private static final List<Source> MAIN =
      SourceTrees.main().stream().map(ProjectRulesTest::source).toList();
  private static final List<Source> PAGES = pages();

  /** A file that comes in takes the place of another one: who reads a story opens few. */
  @Test
  void theFilesStayFew() {
    assertThat(MAIN).hasSizeBetween(500, MOST_FILES);
  }

  @Test
  void oneSimpleNameIsOneType() {
    assertThat(ProjectRules.sharedNames(MAIN)).isEmpty();
  }

  /** Who searches for a metric finds the line that makes it. */
  @Test
  void aMetricIsNamedWhole() throws IOException {
    List<String> names =
        Files.readAllLines(Path.of("it/src/test/resources/dev/sluice/parity/metrics.txt")).stream()
            .filter(line -> !line.startsWith("#") && !line.isBlank())
            .map(line -> line.split(" ", 2)[0])
            .toList();
    assertThat(names).hasSizeGreaterThan(50);
    assertThat(names)
        .filteredOn(name -> MAIN.stream().noneMatch(each -> each.text().contains('"' + name + '"')))
        .isEmpty();
  }

  @Test
  void aNestedTypeHasNoNameOfAnotherType() {
    assertThat(ProjectRules.shadowingNames(MAIN)).isSubsetOf(SHADOWING);
  }

  @Test
  void noTypeIsNamedAfterAPicture() {
    assertThat(ProjectRules.typesNamed(MAIN, PICTURES)).isEmpty();
    assertThat(ProjectRules.pagesNaming(PAGES, PICTURES)).isEmpty();
  }

  @Test
  void fewValuesAreTakenByPosition() {
    assertThat(ParameterCounts.beyondLimits(MAIN)).containsExactlyInAnyOrderElementsOf(WIDE);
  }

  @Test
  void variablesHaveAWordOfTheirType() throws IOException {
    List<String> foreign = VariableNames.foreign(MAIN);
    if (Boolean.getBoolean("sluice.rules.write")) {
      List<String> shrunk = Files.readAllLines(FOREIGN_VARIABLES);
      shrunk.retainAll(foreign);
      Files.write(FOREIGN_VARIABLES, shrunk);
    }
    assertThat(foreign).containsExactlyElementsOf(Files.readAllLines(FOREIGN_VARIABLES));
  }

  @Test
  void aVariableWithoutAWordOfItsTypeIsFound() {
    Source source =
        new Source(
            "src/main/java/dev/sluice/jobs/Planted.java",
            """
            package dev.sluice.jobs;
            import java.util.concurrent.locks.Condition;
            record PodIndex(Condition idle, PodIndex before) {}
            interface Holder { class Condition {} }
            class Planted {
              private static final PodIndex EMPTY = null;
              private final PodIndex directory;
              private final List<PodIndex> pods;
              void add(PodIndex podIndex, PodIndex... mailbox) {}
            }
            """);
    assertThat(VariableNames.foreign(List.of(source)))
        .containsExactly(
            "jobs/Planted.java PodIndex directory", "jobs/Planted.java PodIndex mailbox");
  }

  @Test
  void everyReferenceToAPageResolves() {
    List<Source> all = new ArrayList<>(PAGES);
    all.addAll(MAIN);
    all.addAll(sources("src/test/java", ".java"));
    all.addAll(sources("src/jmh/java", ".java"));
    assertThat(PAGES).hasSizeGreaterThan(15);
    Predicate<String> exists = path -> Files.exists(Path.of(path));
    assertThat(ProjectRules.brokenReferences(planted(all), exists)).isEmpty();
  }

  @Test
  void nothingCitesADocumentThatIsNotHere() {
    assertThat(ProjectRules.foreignDocuments(MAIN)).isEmpty();
  }

  @Test
  void operatorsOfOneControlPlaneTakeTurns() {
    List<Source> tests = sources("src/test/java", "IT.java");
    assertThat(tests).hasSizeGreaterThan(50);
    assertThat(ProjectRules.concurrentOperators(tests)).isEmpty();
  }

  /**
   * The daily build grew from 25 minutes to 66 within two weeks, a test at a time. A subject that
   * comes in takes the place of another one, which runs nightly from then on.
   */
  @Test
  void theDailyBuildStaysSmall() {
    assertThat(ProjectRules.daily(sources("src/test/java", "IT.java"))).hasSizeBetween(20, 45);
  }

  @Test
  void aDailyTestIsTold() {
    String test = "%sclass AnIT {\n  @Tag(BuildBreadth.NIGHTLY)\n  @Test\n  void a() {}\n}\n";
    assertThat(
            ProjectRules.daily(
                List.of(
                    new Source("DailyIT.java", test.formatted("")),
                    new Source("NightlyIT.java", test.formatted("@Tag(BuildBreadth.NIGHTLY)\n")),
                    new Source("FaultsIT.java", test.formatted("@Tag(\"faults\")\n")))))
        .containsExactly("DailyIT.java");
  }

  @Test
  void concurrentOperatorsAreFound() {
    String test =
        "@ControlPlaneTest(exclusive = true)\nclass AnIT {\n%s  @Test\n  void b() {\n"
            + "    LocalOperator.start(name, kubeconfig, settings);\n  }\n}\n";
    assertThat(
            ProjectRules.concurrentOperators(
                List.of(
                    new Source("OneIT.java", test.formatted("")),
                    new Source("TwoIT.java", test.formatted("  @Test\n  void a() {}\n")))))
        .containsExactly("TwoIT.java starts operators in methods that run concurrently");
  }

  @Test
  void twoTypesOfOneNameAreFound() {
    List<Source> bad =
        List.of(
            new Source("src/main/java/a/Lane.java", "package a;\n\npublic final class Lane {}\n"),
            new Source("src/main/java/b/Lane.java", "package b;\n\nrecord Lane(int x) {}\n"),
            new Source("src/main/java/api/v1beta1/Lane.java", "public record Lane() {}\n"),
            new Source("src/main/java/c/C.java", "/** class Lane {} */\nclass C {}\n"));
    assertThat(ProjectRules.sharedNames(bad))
        .containsExactly(
            "Lane is the name of several types: "
                + "[src/main/java/a/Lane.java, src/main/java/b/Lane.java]");
    assertThat(ProjectRules.sharedNames(bad.subList(1, 4))).isEmpty();
  }

  @Test
  void aNestedTypeWithTheNameOfAnotherIsFound() {
    List<Source> bad =
        List.of(
            new Source("src/main/java/a/Lane.java", "public final class Lane {}\n"),
            new Source(
                "src/main/java/b/Road.java",
                "final class Road {\n  public record Lane(int x) {}\n\n"
                    + "  private enum Lane {}\n  static final String S = \"\";\n}\n"));
    assertThat(ProjectRules.shadowingNames(bad)).containsExactly("Road.Lane");
  }

  @Test
  void aPictureIsFound() {
    List<Source> bad =
        List.of(new Source("src/main/java/a/B.java", "class B {\n  static class Desk {}\n}\n"));
    assertThat(ProjectRules.typesNamed(bad, PICTURES))
        .containsExactly("Desk is declared in src/main/java/a/B.java");
    List<Source> page =
        List.of(new Source("docs/a.md", "A desk and a Desk.\n`engine.EngineLoop` runs.\n"));
    assertThat(ProjectRules.pagesNaming(page, PICTURES))
        .containsExactly("docs/a.md names the type EngineLoop");
  }

  @Test
  void tooManyValuesByPositionAreFound() {
    String eight = "int a, int b, int c, int d, int e, int f, int g, int h";
    String bad =
        """
        record Narrow(%1$s) { static final int MOST = 1; }
        record Wide(%1$s, int i) {
          Wide { i = 2; }
          Wide(%1$s) { this(a, b, c, d, e, f, g, h, 1); }
          record Inner(%1$s, int i, int j) {}
        }
        final class Pod {
          Pod(%1$s) {}
          Pod(%1$s, int i) {}
          <T> void wide(int a, int b, T c, int d, int e, int f, int... g) {}
          void narrow(int a, int b, int c, int d, int e, int f) {}
          interface Part { void wide(%1$s); }
        }
        """
            .formatted(eight);
    assertThat(ParameterCounts.beyondLimits(List.of(new Source("src/main/java/a/Pod.java", bad))))
        .containsExactly(
            "constructor Pod 9",
            "method Pod.Part.wide 8",
            "method Pod.wide 7",
            "record Wide 9",
            "record Wide.Inner 10");
  }

  @Test
  void aBrokenReferenceIsFound() {
    List<Source> bad =
        List.of(
            new Source(
                "docs/a.md",
                "# A page\n## Steps, one `by` one\n[1](b.md) [2](#a-page) [3](#other) [4](c/d.md)\n"
                    + "[5](https://example.org/x#y) [6](../README.md)\n"
                    + "```\n## not-a-heading\n[7](gone.md)\n```\n"),
            new Source("docs/b.md", "[8](a.md#steps-one-by-one) [9](a.md#not-a-heading)\n"),
            new Source(
                "src/main/java/X.java",
                planted("// (DOCS/a.md#a-page), DOCS/a.md#none, DOCS/no.md\n")));
    Predicate<String> exists = Set.of("docs/a.md", "docs/b.md", "README.md")::contains;
    assertThat(ProjectRules.brokenReferences(bad, exists))
        .containsExactly(
            "docs/a.md refers to docs/a.md#other",
            "docs/a.md refers to docs/c/d.md",
            "docs/b.md refers to docs/a.md#not-a-heading",
            "src/main/java/X.java refers to " + planted("DOCS/a.md#none"),
            "src/main/java/X.java refers to " + planted("DOCS/no.md"));
  }

  @Test
  void aForeignDocumentIsFound() {
    List<Source> bad =
        List.of(
            new Source(
                "src/main/java/X.java",
                "/** In the contract's order. */\n"
                    + "/** Steps (section 6). */\n"
                    + "class Contracts {}\n"));
    assertThat(ProjectRules.foreignDocuments(bad))
        .containsExactly(
            "src/main/java/X.java:1 cites no page of docs: /** In the contract's order. */",
            "src/main/java/X.java:2 cites no page of docs: /** Steps (section 6). */");
  }

  /** The planted violations of this class are no references of the project. */
  private static List<Source> planted(List<Source> all) {
    return all.stream().filter(source -> !source.path().contains("ProjectRulesTest")).toList();
  }

  private static String planted(String text) {
    return text.replace("DOCS", "docs");
  }

  private static List<Source> pages() {
    try (Stream<Path> docs = Files.walk(Path.of("docs"));
        Stream<Path> tools = Files.walk(Path.of("tools"))) {
      return Stream.of(docs, tools, Stream.of(Path.of("README.md")))
          .flatMap(files -> files.filter(file -> file.toString().endsWith(".md")).sorted())
          .map(ProjectRulesTest::source)
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static List<Source> sources(String below, String ending) {
    return SourceTrees.javaFiles(below).stream()
        .filter(file -> file.toString().endsWith(ending))
        .map(ProjectRulesTest::source)
        .toList();
  }

  private static Source source(Path file) {
    try {
      return new Source(file.toString().replace('\\', '/'), Files.readString(file));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
