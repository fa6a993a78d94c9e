package dev.sluice.endtoend;

import dev.sluice.lab.audit.AuditReport.Rule;
import dev.sluice.lab.audit.AuditReport.Violation;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * When the API server or its store was away, in revisions of the store. Kubernetes' own Job
 * controller makes a pod again when it doesn't hear that the first was made: its documentation says
 * that the same program may sometimes be started twice, even with parallelism 1. That is not for a
 * queue to prevent, and it can happen only while answers get lost: then, and while the controller
 * tries again.
 */
final class Outages {

  /** For how long after an outage the Job controller still acts on what it missed. */
  private static final Duration AFTERMATH = Duration.ofSeconds(30);

  private static final int MOST = 32;

  private record Span(long from, long to) {}

  private final KubernetesClient client;
  private final AtomicReferenceArray<Span> spans = new AtomicReferenceArray<>(MOST);
  private final AtomicInteger begun = new AtomicInteger();
  private final AtomicInteger ended = new AtomicInteger();

  Outages(KubernetesClient client) {
    this.client = client;
  }

  /** From now on answers may get lost; to be called while the API server still answers. */
  void begin() {
    spans.set(begun.getAndIncrement(), new Span(revision(), Long.MAX_VALUE));
  }

  /** The API server answers again. */
  void end(ScheduledExecutorService timer) {
    var unused =
        timer.schedule(
            () -> {
              int number = ended.getAndIncrement();
              spans.set(number, new Span(spans.get(number).from(), revision()));
            },
            AFTERMATH.toSeconds(),
            TimeUnit.SECONDS);
  }

  /** Whether each that began has ended, with its aftermath. */
  boolean over() {
    return begun.get() == ended.get();
  }

  /** Those that only say that a pod was made once more while answers got lost. */
  List<Violation> madeTwiceByTheJobController(List<Violation> violations) {
    return violations.stream()
        .filter(violation -> violation.rule() == Rule.ONE_SET_OF_PODS)
        .filter(violation -> contain(violation.revision()))
        .toList();
  }

  private boolean contain(long revision) {
    for (int i = 0; i < begun.get(); i++) {
      Span span = spans.get(i);
      if (span.from() < revision && revision <= span.to()) {
        return true;
      }
    }
    return false;
  }

  private long revision() {
    return Long.parseLong(client.namespaces().list().getMetadata().getResourceVersion());
  }
}
