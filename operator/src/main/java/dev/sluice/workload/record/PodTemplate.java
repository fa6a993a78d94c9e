package dev.sluice.workload.record;

import dev.sluice.core.model.NodeConstraints;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The cached part of a pod template: everything that quota, limits and placement depend on.
 * Quantities are amounts (thousandths for cpu, whole units, rounded up, for every other resource).
 *
 * @param containers the containers
 * @param initContainers the init containers
 * @param podLevel pod-level requests and limits (both maps empty if absent)
 * @param overhead overhead written in the template; empty when absent
 * @param runtimeClassName the RuntimeClass; empty when absent
 * @param nodeConstraints the nodes that the pods may run on
 * @param fingerprint a digest of containers, init containers, resource claims and (see {@link
 *     #fingerprintWithoutTolerations}) tolerations: equal for templates that run the same pods
 * @param fingerprintWithoutTolerations the same without tolerations
 * @param resourceClaims the resource claims that the template declares or its containers use,
 *     sorted by name
 * @param problems parse errors, each naming field and value; usually empty
 */
public record PodTemplate(
    List<Container> containers,
    List<Container> initContainers,
    ResourceNeeds podLevel,
    Map<String, Long> overhead,
    String runtimeClassName,
    NodeConstraints nodeConstraints,
    String fingerprint,
    String fingerprintWithoutTolerations,
    List<Claim> resourceClaims,
    List<String> problems) {

  /**
   * A container.
   *
   * @param restartable whether it is an init container that keeps running (a sidecar)
   */
  public record Container(String name, ResourceNeeds resources, boolean restartable) {}

  /**
   * Compares fingerprints only, because templates are used as map keys: equal templates have equal
   * fingerprints.
   */
  @Override
  public int hashCode() {
    return fingerprint.hashCode();
  }

  /**
   * A resource claim of a pod.
   *
   * @param name the name within the pod
   * @param template the ResourceClaimTemplate that each pod's claim is made from; empty if none
   * @param claim the existing ResourceClaim that pods use; empty if none
   */
  public record Claim(String name, String template, String claim) {}

  /** The resources that containers request or have limits of. */
  public Stream<String> resources() {
    return Stream.of(containers, initContainers)
        .flatMap(List::stream)
        .map(Container::resources)
        .flatMap(
            needs ->
                Stream.concat(
                    needs.requests().keySet().stream(), needs.limits().keySet().stream()));
  }

  /** Requests and limits, by resource. */
  public record ResourceNeeds(Map<String, Long> requests, Map<String, Long> limits) {}
}
