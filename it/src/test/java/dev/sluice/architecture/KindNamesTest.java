package dev.sluice.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.architecture.ProjectRules.Source;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.JobKindDescription;
import dev.sluice.jobs.kinds.BuiltInIntegrations;
import dev.sluice.testing.SourceTrees;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * What is particular to a kind of job is known to its own package below {@code
 * dev.sluice.jobs.kinds}, to the registry, and to the laboratory, which plays the controllers of
 * kinds. Everything else learns it from descriptions, so it neither names a kind in a string nor
 * uses a kind's package.
 */
class KindNamesTest {

  private static final String MAIN = "src/main/java/dev/sluice/";
  private static final Pattern STRING =
      Pattern.compile(
          "//[^\\n]*|/\\*[\\s\\S]*?\\*/|\"\"\"([\\s\\S]*?)\"\"\"|\"((?:\\\\.|[^\"\\n\\\\])*+)\"");
  private static final Pattern USE =
      Pattern.compile("\\bdev\\.sluice\\.jobs\\.(?:kinds\\.[a-z]+|importer|recovery)\\.[A-Z]\\w*");
  private static final List<JobKind> KINDS =
      BuiltInIntegrations.descriptions().stream().map(JobKindDescription::kind).toList();

  /** Kinds whose names are no words of prose. */
  private static final String UNMISTAKABLE =
      KINDS.stream()
          .map(JobKind::kind)
          .filter(kind -> !Set.of("Job", "Pod", "Deployment").contains(kind))
          .collect(Collectors.joining("|"));

  private static final Pattern NAME =
      Pattern.compile(
          "(?:^|['\"])(?:Job|Pod|Deployment)(?:['\"]|$)|\\b(?:"
              + UNMISTAKABLE
              + ")\\b|(?<![\\w./-])(?:"
              + KINDS.stream()
                  .map(JobKind::framework)
                  .filter(framework -> framework.contains("/"))
                  .map(Pattern::quote)
                  .collect(Collectors.joining("|"))
              + ")\\b|\\b(?:"
              + KINDS.stream()
                  .map(JobKind::group)
                  .filter(group -> group.contains("."))
                  .distinct()
                  .map(Pattern::quote)
                  .collect(Collectors.joining("|"))
              + ")\\b");

  /** The sources that name kinds all the same, each with its reason. */
  private static final Map<String, String> EXCEPTIONS =
      Map.ofEntries(
          Map.entry("accounting/PodStopper.java", "pods of all kinds, which events name"),
          Map.entry("api/KubernetesNames.java", "an example in a message"),
          Map.entry("api/config/JobFrameworks.java", "the names of the configuration"),
          Map.entry("api/config/MultiKueue.java", "the names of the configuration"),
          Map.entry(
              "app/module/AccountingModule.java", "Workloads whose owners are all pods are groups"),
          Map.entry(
              "app/module/AttendedKinds.java", "makes the index of pods that the registry takes"),
          Map.entry(
              "app/module/FailureRecoveryModule.java", "pods of all kinds whose node is lost"),
          Map.entry("app/ImporterCommand.java", "the kinds that the importer takes in"),
          Map.entry("app/module/JobModule.java", "the index of pods, and what webhooks ask of it"),
          Map.entry("app/module/MultiKueueModule.java", "the index of pods"),
          Map.entry("app/OperatorApplication.java", "the index of pods"),
          Map.entry("app/module/CertificateModule.java", "a sample for the warm-up"),
          Map.entry("checks/multikueue/sync/MultiKueueKinds.java", "groups of pods are sent"),
          Map.entry("checks/provisioning/HolderManifest.java", "placeholders are pods"),
          Map.entry("install/DefinitionRemoval.java", "pods of all kinds lose the finalizer"),
          Map.entry("jobs/controller/PodGates.java", "knows a pod by the kind of its object"),
          Map.entry(
              "kubequeue/QueueUnits.java", "the states that the extensions' API has per kind"),
          Map.entry("topology/FailedNodeController.java", "pods of all kinds, which events name"),
          Map.entry("webhooks/kinds/DeploymentWebhook.java", "the webhook of a gated kind"),
          Map.entry(
              "webhooks/rules/JobDefaults.java", "pods that create pods, such as drivers of Spark"),
          Map.entry(
              "webhooks/registration/WebhookConfigurations.java",
              "an expression about pods of Jobs"),
          Map.entry("webhooks/kinds/LeaderWorkerSetWebhook.java", "the webhook of a gated kind"),
          Map.entry("webhooks/kinds/PodWebhook.java", "the webhook of a gated kind"),
          Map.entry("webhooks/kinds/StatefulSetWebhook.java", "the webhook of a gated kind"),
          Map.entry("workload/record/KubernetesResourceContext.java", "a word of LimitRanges"),
          Map.entry(
              "workload/record/CachedWorkload.java", "groups of pods own their Workload together"));

  /** What a source names, in the order of the alphabet. */
  private static Set<String> named(String text) {
    Set<String> names = new TreeSet<>();
    Matcher string = STRING.matcher(text);
    while (string.find()) {
      String content = string.group(1) == null ? string.group(2) : string.group(1);
      Matcher name = NAME.matcher(content == null ? "" : content);
      while (name.find()) {
        names.add(name.group().replaceAll("['\"]", ""));
      }
    }
    Matcher use = USE.matcher(text);
    while (use.find()) {
      names.add(use.group());
    }
    return names;
  }

  private static boolean mayName(String path) {
    return path.startsWith("lab/") || path.matches("jobs/(?:kinds|importer|recovery)/.*");
  }

  private static Map<String, Set<String>> violations(List<Source> sources) {
    Map<String, Set<String>> found = new TreeMap<>();
    for (Source source : sources) {
      String path = SourceTrees.name(Path.of(source.path()));
      Set<String> names = mayName(path) ? Set.of() : named(source.text());
      if (!names.isEmpty()) {
        found.put(path, names);
      }
    }
    return found;
  }

  @Test
  void noSourceOutsideOfAKindsPackageNamesTheKind() {
    assertThat(violations(sources()).keySet())
        .as("others ask its description; an exception that isn't needed any more goes")
        .containsExactlyInAnyOrderElementsOf(EXCEPTIONS.keySet());
  }

  @Test
  void aPlantedViolationIsFound() {
    assertThat(
            violations(
                List.of(
                    new Source(MAIN + "jobs/X.java", "if (kind.equals(\"Pod\")) {}"),
                    new Source(
                        MAIN + "jobs/Y.java", "// \"Pod\"\n/** a {@code RayJob} */ \"a Pod\""),
                    new Source(MAIN + "webhooks/X.java", "\"r.kind == 'Job'\" + \"no JobSets\""),
                    new Source(MAIN + "app/X.java", "\"only JobSet can\" + \"batch/job\""),
                    new Source(MAIN + "core/X.java", "import dev.sluice.jobs.kinds.ray.RayJob;"),
                    new Source(MAIN + "core/Y.java", "import dev.sluice.jobs.kinds.All;"),
                    new Source(MAIN + "jobs/kinds/ray/X.java", "\"RayJob\""))))
        .isEqualTo(
            Map.of(
                "jobs/X.java",
                Set.of("Pod"),
                "webhooks/X.java",
                Set.of("Job"),
                "app/X.java",
                Set.of("JobSet", "batch/job"),
                "core/X.java",
                Set.of("dev.sluice.jobs.kinds.ray.RayJob")));
  }

  private static List<Source> sources() {
    return SourceTrees.main().stream().map(KindNamesTest::source).toList();
  }

  private static Source source(Path file) {
    try {
      return new Source(file.toString().replace('\\', '/'), Files.readString(file));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
