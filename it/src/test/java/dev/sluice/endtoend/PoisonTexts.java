package dev.sluice.endtoend;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Jobs whose texts took minutes to read once, each as large as the API server takes it: one request
 * was to stop everybody.
 */
final class PoisonTexts {

  /** All annotations of an object have 256 KiB. */
  private static final String COMMAS = ",".repeat(255 * 1024);

  private static final int OF_EACH_ANNOTATION = 20;

  private static final String POD =
      "{restartPolicy: Never, containers: [{name: c, image: none%s}]}";

  private PoisonTexts() {}

  private static String annotated(String kind, String annotation, String spec) {
    return """
    %s
    metadata:
      generateName: poison-
      labels: {kueue.x-k8s.io/queue-name: lq}
      annotations: {%s: "%s"}
    spec: %s
    """
        .formatted(kind, annotation, COMMAS, spec);
  }

  private static String numbered(int count, String text) {
    return IntStream.range(0, count)
        .mapToObj(i -> text.replace("%", Integer.toString(i)))
        .collect(Collectors.joining(", "));
  }

  /** Sends all of them at the same time. */
  static void send(Tenant tenant) {
    try (ExecutorService senders = Executors.newCachedThreadPool()) {
      all().forEach(text -> senders.execute(() -> tenant.create(text)));
    }
  }

  private static List<String> all() {
    String pod = POD.formatted("");
    String gates = "kueue.x-k8s.io/admission-gated-by";
    List<String> texts = new ArrayList<>();
    for (String annotation : List.of("sluice.dev/placement-cluster-selector", gates)) {
      texts.addAll(
          Collections.nCopies(
              OF_EACH_ANNOTATION,
              annotated(
                  "apiVersion: batch/v1\nkind: Job",
                  annotation,
                  "{template: {spec: %s}}".formatted(pod))));
    }
    texts.add(
        annotated(
            "apiVersion: kubeflow.org/v1\nkind: PyTorchJob",
            gates,
            "{pytorchReplicaSpecs: {Worker: {template: {spec: %s}}}}".formatted(pod)));
    texts.add(
        """
        apiVersion: jobset.x-k8s.io/v1alpha2
        kind: JobSet
        metadata: {generateName: poison-, labels: {kueue.x-k8s.io/queue-name: lq}}
        spec: {replicatedJobs: [{name: a, template: {spec: {template: {spec: %s}}}}]}
        """
            .formatted(POD.formatted(", env: [" + numbered(8000, "{name: V%, value: a}") + "]")));
    texts.add(
        """
        apiVersion: argoproj.io/v1alpha1
        kind: Workflow
        metadata: {generateName: poison-, labels: {kueue.x-k8s.io/queue-name: lq}}
        spec:
          entrypoint: main
          templates:
          - {name: main, dag: {tasks: [%s]}}
          - {name: work, container: {image: none, resources: {requests: {%s}}}}
        """
            .formatted(
                numbered(120, "{name: t%, template: work}"),
                numbered(2000, "example.com/r%: '1'")));
    texts.add(
        """
        apiVersion: workload.codeflare.dev/v1beta2
        kind: AppWrapper
        metadata: {generateName: poison-, labels: {kueue.x-k8s.io/queue-name: lq}}
        spec:
          components:
          - podSets: [%s]
            template: {apiVersion: v1, kind: Pod, spec: %s}
        """
            .formatted(
                numbered(400, "{path: template}"),
                POD.formatted(", args: [\"" + "x".repeat(600 * 1024) + "\"]")));
    return texts;
  }
}
