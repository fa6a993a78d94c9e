package dev.sluice.checks.multikueue.sync;

import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.JobKindDescription;
import dev.sluice.jobs.kind.MultiKueueRules;
import dev.sluice.jobs.kinds.BuiltInIntegrations;
import dev.sluice.jobs.kinds.pod.SinglePod;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The job kinds that can be dispatched to other clusters.
 *
 * @param all one description per kind
 */
public record MultiKueueKinds(List<MultiKueueKind> all) {

  /** Pods, alone or in groups. */
  static final MultiKueueKind POD = MultiKueueKind.of(new SinglePod()).orElseThrow();

  /** Copies the list. */
  public MultiKueueKinds {
    all = List.copyOf(all);
  }

  /**
   * The kinds of a configuration, besides those of the job framework.
   *
   * @param declared the kinds that the cluster declares
   * @param further additional kinds, each as {@code Kind.version.group}
   * @param pushing whether some fields follow the manager's job while the remote job runs
   */
  public static MultiKueueKinds beside(
      List<JobKindDescription> declared, List<String> further, boolean pushing) {
    return of(
        Stream.concat(BuiltInIntegrations.descriptions().stream(), declared.stream()).toList(),
        further,
        pushing);
  }

  /** The same, with these descriptions in place of those of the job framework. */
  static MultiKueueKinds of(
      List<JobKindDescription> descriptions, List<String> further, boolean pushing) {
    List<MultiKueueKind> all = new ArrayList<>();
    descriptions.stream()
        .flatMap(description -> MultiKueueKind.of(description).stream())
        .map(kind -> pushing ? kind : kind.withoutPushes())
        .forEach(all::add);
    further.forEach(name -> all.add(external(name)));
    return new MultiKueueKinds(all);
  }

  /**
   * A kind of which only the managed-by field is known; its plural follows the usual English rule.
   */
  static MultiKueueKind external(String name) {
    return new MultiKueueKind(
        JobKind.parse(name),
        MultiKueueRules.byStatus(List.of("spec", "managedBy"), List.of()),
        Optional.empty());
  }

  /** The kind that an owner reference with these fields refers to. */
  Optional<MultiKueueKind> find(String apiVersion, String kind) {
    return all.stream().filter(known -> known.is(apiVersion, kind)).findFirst();
  }

  /** The names of the kinds, for messages. */
  String names() {
    return all.stream().map(MultiKueueKind::kind).collect(Collectors.joining(", "));
  }
}
