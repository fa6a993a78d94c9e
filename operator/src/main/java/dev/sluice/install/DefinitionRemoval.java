package dev.sluice.install;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.ApiVersions;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.json.JsonFields;
import dev.sluice.install.FinalizerSweep.Collection;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.client.ApiOutcome;
import dev.sluice.kube.client.ApiRequest;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Removes the definitions of the API and with them all objects, where no operator runs that would
 * take its finalizers away: the definitions are deleted, so that nothing new can be made, this
 * API's finalizers are taken off the objects and off pods, and the end is awaited. What somebody
 * else holds by a finalizer stays. For one thread.
 */
final class DefinitionRemoval {

  private static final int REQUESTS_AT_A_TIME = 32;
  private static final Duration PAUSE = Duration.ofMillis(500);
  private static final Duration BETWEEN_LINES = Duration.ofSeconds(2);

  private static final String DEFINITIONS =
      "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/";

  /** The API server's own finalizer of a definition: it deletes the objects. */
  private static final String CLEANUP = "customresourcecleanup.apiextensions.k8s.io";

  /** Conditions that say nothing of a deletion. */
  private static final Set<String> SERVING = Set.of("Established", "NamesAccepted");

  private final ApiClient api;
  private final Duration patience;
  private final Consumer<String> progress;
  private final List<Step> steps = new ArrayList<>();
  private final List<FinalizerSweep> sweeps = new ArrayList<>();
  private long toldAt;

  /**
   * Nothing is removed yet.
   *
   * @param namespace the operator's, whose deletion was asked for
   * @param patience how long to go on while nothing more goes
   * @param progress is given a line from time to time, if it takes longer
   */
  DefinitionRemoval(
      KubernetesClient client, String namespace, Duration patience, Consumer<String> progress) {
    this.api = new ApiClient(client, ApiClient.Options.atATime(REQUESTS_AT_A_TIME));
    this.patience = patience;
    this.progress = progress;
    steps.add(new Pods());
    for (String plural : Installer.ALPHA) {
      steps.add(new Definition(plural, ApiVersions.GROUP));
    }
    for (String plural : Installer.PLURALS) {
      steps.add(new Definition(plural, ApiVersions.GROUP));
    }
    for (String plural : Installer.SLUICE_PLURALS) {
      steps.add(new Definition(plural, ApiVersions.SLUICE_GROUP));
    }
    steps.add(new Namespace(namespace));
  }

  /**
   * Removes, and returns when everything is gone, or nothing has gone for as long as the patience.
   *
   * @return a line for each thing that stays, with the reason; empty if everything is gone
   * @throws InterruptedException when the thread is interrupted meanwhile
   */
  List<String> run() throws InterruptedException {
    long since = System.nanoTime();
    toldAt = since;
    while (true) {
      boolean advanced = false;
      for (Step step : List.copyOf(steps)) {
        boolean gone = step.isDone();
        if (gone) {
          steps.remove(step);
        }
        advanced |= gone || step.advanced();
      }
      long now = System.nanoTime();
      if (advanced) {
        since = now;
      }
      if (steps.isEmpty() || now - since > patience.toNanos()) {
        return steps.stream().flatMap(step -> step.remains().stream()).toList();
      }
      tell();
      Thread.sleep(PAUSE);
    }
  }

  /** Reports progress, if the last line is old enough. */
  private void tell() {
    long now = System.nanoTime();
    if (now - toldAt < BETWEEN_LINES.toNanos()) {
      return;
    }
    toldAt = now;
    long definitions = steps.stream().filter(Definition.class::isInstance).count();
    progress.accept(
        "%d objects freed of finalizers; left: %s%d definitions"
            .formatted(
                sweeps.stream().mapToLong(FinalizerSweep::removed).sum(),
                steps.stream()
                    .flatMap(Step::items)
                    .map(item -> item + ", ")
                    .collect(Collectors.joining()),
                definitions));
  }

  /** Something to be removed. */
  private abstract static class Step {

    private long least = FinalizerSweep.UNKNOWN;

    /** Does what can be done now, and returns whether nothing is left to do. */
    abstract boolean isDone();

    /** How much is left. */
    abstract long left();

    /** What is left besides definitions, for the line of progress; empty if that isn't known. */
    abstract Stream<String> items();

    /** What stays, and why. */
    abstract List<String> remains();

    /** Whether less is left than ever before. */
    final boolean advanced() {
      boolean less = left() < least;
      least = Math.min(least, left());
      return less;
    }
  }

  private FinalizerSweep sweep() {
    FinalizerSweep sweep = new FinalizerSweep(api, this::tell);
    sweeps.add(sweep);
    return sweep;
  }

  /** The pods of jobs: they lose the finalizer, and run on. */
  private final class Pods extends Step {

    private final FinalizerSweep sweep = sweep();

    @Override
    boolean isDone() {
      sweep.run(new Collection("v1", "pods", "Pod", KueueConstants.MANAGED, false));
      return sweep.left() == 0;
    }

    @Override
    long left() {
      return sweep.left();
    }

    @Override
    Stream<String> items() {
      return known(sweep, "pods");
    }

    @Override
    List<String> remains() {
      return DefinitionRemoval.remains(
          "the finalizer " + KueueConstants.MANAGED + " of pods", sweep, "pods");
    }
  }

  /** A definition, and all objects of its kind. */
  private final class Definition extends Step {

    private final String plural;
    private final String group;
    private final String name;
    private final FinalizerSweep sweep = sweep();
    private String reason = "";

    Definition(String plural, String group) {
      this.plural = plural;
      this.group = group;
      this.name = plural + "." + group;
    }

    @Override
    boolean isDone() {
      ApiOutcome outcome = api.send(ApiRequest.get(DEFINITIONS + name)).join();
      switch (outcome) {
        case ApiOutcome.Gone gone -> {
          return true;
        }
        case ApiOutcome.Written found -> remove(found.object());
        default -> reason = "can't be read: " + FinalizerSweep.text(outcome);
      }
      return false;
    }

    private void remove(ObjectNode definition) {
      if (!isBeingDeleted(definition)
          && !sent(
              ApiRequest.delete(
                  DEFINITIONS + name, JsonFields.text(definition, "metadata", "uid")))) {
        return;
      }
      String stored = storedVersion(definition);
      if (needsConversion(definition, stored)
          && !sent(ApiRequest.patch(DEFINITIONS + name, noConversion()))) {
        return;
      }
      sweep.run(
          new Collection(
              group + "/" + stored,
              plural,
              JsonFields.text(definition, "spec", "names", "kind"),
              "",
              true));
      reason = reason(definition);
    }

    /** Whether the API server did it; otherwise the reason is why not. */
    private boolean sent(ApiRequest request) {
      ApiOutcome outcome = api.send(request).join();
      reason = FinalizerSweep.text(outcome);
      return outcome instanceof ApiOutcome.Written;
    }

    private String reason(ObjectNode definition) {
      List<String> others =
          JsonFields.texts(definition, "metadata", "finalizers").stream()
              .filter(finalizer -> !finalizer.equals(CLEANUP))
              .toList();
      if (!others.isEmpty()) {
        return FinalizerSweep.othersText(others);
      }
      if (sweep.left() == FinalizerSweep.UNKNOWN) {
        return "its objects can't be listed";
      }
      return sweep.left() == 0 ? deletion(definition) : "objects left: " + sweep.left();
    }

    @Override
    long left() {
      return sweep.left();
    }

    @Override
    Stream<String> items() {
      return known(sweep, plural);
    }

    @Override
    List<String> remains() {
      return DefinitionRemoval.remains(
          "CustomResourceDefinition " + name + ": " + reason, sweep, plural);
    }
  }

  /** The operator's namespace, which the API server is asked to delete by now. */
  private final class Namespace extends Step {

    private final String name;
    private String reason = "";

    Namespace(String name) {
      this.name = name;
    }

    @Override
    boolean isDone() {
      ApiOutcome outcome = api.send(ApiRequest.get("/api/v1/namespaces/" + name)).join();
      reason =
          outcome instanceof ApiOutcome.Written found
              ? deletion(found.object())
              : FinalizerSweep.text(outcome);
      return outcome instanceof ApiOutcome.Gone;
    }

    @Override
    long left() {
      return 1;
    }

    @Override
    Stream<String> items() {
      return Stream.of("namespace " + name);
    }

    @Override
    List<String> remains() {
      return List.of("Namespace " + name + ": " + reason);
    }
  }

  private static List<String> remains(String first, FinalizerSweep sweep, String plural) {
    List<String> lines = new ArrayList<>(List.of(first));
    lines.addAll(sweep.reasons());
    if (sweep.left() != FinalizerSweep.UNKNOWN && sweep.left() > sweep.reasons().size()) {
      lines.add("%d more of %s".formatted(sweep.left() - sweep.reasons().size(), plural));
    }
    return lines;
  }

  private static Stream<String> known(FinalizerSweep sweep, String plural) {
    return Stream.of(sweep.left())
        .filter(left -> left > 0 && left != FinalizerSweep.UNKNOWN)
        .map(left -> left + " " + plural);
  }

  private static boolean isBeingDeleted(JsonNode object) {
    return JsonFields.isPresent(object, "metadata", "deletionTimestamp");
  }

  /** How far the API server has come with the deletion of an object. */
  private static String deletion(JsonNode object) {
    if (!isBeingDeleted(object)) {
      return "somebody made it anew";
    }
    String said =
        JsonFields.list(object, "status", "conditions").stream()
            .filter(condition -> !SERVING.contains(JsonFields.text(condition, "type")))
            .filter(condition -> JsonFields.text(condition, "status").equals("True"))
            .map(condition -> JsonFields.text(condition, "message"))
            .collect(Collectors.joining("; "));
    return said.isEmpty() ? "the API server is deleting it" : said;
  }

  private static String storedVersion(JsonNode definition) {
    return JsonFields.list(definition, "spec", "versions").stream()
        .filter(version -> version.path("storage").asBoolean())
        .map(version -> JsonFields.text(version, "name"))
        .findFirst()
        .orElse(ApiVersions.V1BETA2);
  }

  /**
   * Whether objects may be stored in a version that the API server can't read without an operator,
   * not even to delete them.
   */
  private static boolean needsConversion(JsonNode definition, String stored) {
    return JsonFields.text(definition, "spec", "conversion", "strategy").equals("Webhook")
        && JsonFields.texts(definition, "status", "storedVersions").stream()
            .anyMatch(version -> !version.equals(stored));
  }

  /** What is deleted may lose fields. */
  private static ObjectNode noConversion() {
    ObjectNode patch = JsonNodeFactory.instance.objectNode();
    patch.putObject("spec").putObject("conversion").put("strategy", "None").putNull("webhook");
    return patch;
  }
}
