package dev.sluice.checks.multikueue.sending;

import dev.sluice.api.Keys;
import dev.sluice.checks.multikueue.link.RemoteObjects.Key;
import dev.sluice.checks.multikueue.link.WhileConnected;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/** Watches the jobs that were made in workers, as long as each is connected. */
final class JobWatches implements AutoCloseable {

  private static final long PAGE = 500;

  private final Mark mark;
  private final Consumer<Key> wake;
  private final WhileConnected<List<SharedIndexInformer<GenericKubernetesResource>>> watched =
      new WhileConnected<>(this::begin, informers -> informers.forEach(SharedIndexInformer::stop));

  /** Watches nothing yet; {@code wake} is told of the Workload of each job that changes. */
  JobWatches(Mark mark, Consumer<Key> wake) {
    this.mark = mark;
    this.wake = wake;
  }

  /** Watches by this client from now on; by none if it is empty. */
  void follow(String cluster, Optional<KubernetesClient> client) {
    watched.follow(cluster, client);
  }

  private List<SharedIndexInformer<GenericKubernetesResource>> begin(KubernetesClient client) {
    List<SharedIndexInformer<GenericKubernetesResource>> informers = new ArrayList<>();
    for (SentKind kind : SentKind.ALL) {
      SharedIndexInformer<GenericKubernetesResource> informer =
          client
              .genericKubernetesResources(
                  new ResourceDefinitionContext.Builder()
                      .withGroup(kind.group())
                      .withVersion(kind.version())
                      .withKind(kind.kind())
                      .withPlural(kind.plural())
                      .withNamespaced(true)
                      .build())
              .inAnyNamespace()
              .withLabel(Keys.MULTIKUEUE_ORIGIN, mark.origin())
              .withLimit(PAGE)
              .runnableInformer(0);
      informer.addEventHandler(new Waking());
      var unused = informer.start();
      informers.add(informer);
    }
    return informers;
  }

  /** Is shown jobs. */
  @FunctionalInterface
  interface Visitor {

    /** A job of this kind is in this cluster, for the Workload of the key. */
    void visit(String cluster, SentKind kind, GenericKubernetesResource job, Key workload);
  }

  /** Shows all jobs that are known now. */
  void visit(Visitor visitor) {
    watched
        .now()
        .forEach(
            (cluster, informers) -> {
              for (int i = 0; i < informers.size(); i++) {
                SentKind kind = SentKind.ALL.get(i);
                for (GenericKubernetesResource job : informers.get(i).getStore().list()) {
                  workload(job).ifPresent(key -> visitor.visit(cluster, kind, job, key));
                }
              }
            });
  }

  private static Optional<Key> workload(GenericKubernetesResource job) {
    Map<String, String> annotations = job.getMetadata().getAnnotations();
    Map<String, String> labels = job.getMetadata().getLabels();
    String annotated =
        annotations == null ? "" : annotations.getOrDefault(Keys.PREBUILT_WORKLOAD_NAME, "");
    String labelled = labels == null ? "" : labels.getOrDefault(Keys.PREBUILT_WORKLOAD_NAME, "");
    String name = annotated.isEmpty() ? labelled : annotated;
    return name.isEmpty()
        ? Optional.empty()
        : Optional.of(new Key(job.getMetadata().getNamespace(), name));
  }

  @Override
  public void close() {
    watched.close();
  }

  private final class Waking implements ResourceEventHandler<GenericKubernetesResource> {

    @Override
    public void onAdd(GenericKubernetesResource job) {
      tell(job);
    }

    @Override
    public void onUpdate(GenericKubernetesResource before, GenericKubernetesResource after) {
      tell(after);
    }

    @Override
    public void onDelete(GenericKubernetesResource job, boolean unknown) {
      tell(job);
    }

    private void tell(GenericKubernetesResource job) {
      workload(job).ifPresent(wake);
    }
  }
}
