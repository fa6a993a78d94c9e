package dev.sluice.install;

import dev.sluice.jobs.kind.JobKindDescription;
import dev.sluice.jobs.kind.MultiKueueRules;
import dev.sluice.jobs.kind.RbacRule;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The rules of the operator's ClusterRole for the kinds of jobs, as each integration states them.
 */
final class JobKindRules {

  private JobKindRules() {}

  /** The items of a list of rules in YAML, with a comment for each kind. */
  static String text(List<JobKindDescription> kinds) {
    return kinds.stream()
        .filter(kind -> !kind.roles().isEmpty())
        .map(JobKindRules::text)
        .collect(Collectors.joining());
  }

  /** The same for what a manager of several clusters does with jobs in a worker cluster. */
  static String remoteText(List<JobKindDescription> kinds) {
    return kinds.stream()
        .flatMap(
            kind ->
                kind.multiKueue().stream().map(rules -> heading(kind) + text(remote(kind, rules))))
        .collect(Collectors.joining());
  }

  /** Pods, and jobs that are known by their pods, are made and deleted, and never changed. */
  private static RbacRule remote(JobKindDescription kind, MultiKueueRules rules) {
    boolean changed =
        switch (rules.pods()) {
          case ITSELF, MADE -> false;
          case NONE, MADE_IN_GROUPS -> true;
        };
    List<String> verbs =
        changed
            ? List.of("create", "delete", "get", "list", "patch", "watch")
            : List.of("create", "delete", "get", "list", "watch");
    return new RbacRule(kind.kind().group(), kind.kind().plural(), verbs);
  }

  private static String heading(JobKindDescription kind) {
    return "# %s of %s\n".formatted(kind.kind().kind(), kind.kind().apiVersion());
  }

  private static String text(JobKindDescription kind) {
    return heading(kind)
        + kind.roles().stream().map(JobKindRules::text).collect(Collectors.joining());
  }

  private static String text(RbacRule rule) {
    return """
        - apiGroups: [%s]
          resources: [%s]
          verbs: [%s]
        """
        .formatted(
            rule.group().isEmpty() ? "\"\"" : rule.group(),
            rule.resource(),
            String.join(", ", rule.verbs()));
  }
}
