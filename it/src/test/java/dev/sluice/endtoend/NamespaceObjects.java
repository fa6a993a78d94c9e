package dev.sluice.endtoend;

import dev.sluice.jobs.kind.JobKind;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;

/** Which objects a namespace has, by kind. */
final class NamespaceObjects implements AutoCloseable {

  private final Map<JobKind, SharedIndexInformer<GenericKubernetesResource>> informers =
      new LinkedHashMap<>();

  /** Is told of an object in each version, and when it is gone. */
  interface Listener {
    void changed(GenericKubernetesResource object, boolean gone);
  }

  /** Watches kinds, which the API server serves. */
  NamespaceObjects(
      KubernetesClient client, String namespace, List<JobKind> kinds, Listener listener) {
    for (JobKind kind : kinds) {
      informers.put(
          kind,
          client
              .genericKubernetesResources(
                  new ResourceDefinitionContext.Builder()
                      .withGroup(kind.group())
                      .withVersion(kind.version())
                      .withKind(kind.kind())
                      .withPlural(kind.plural())
                      .withNamespaced(true)
                      .build())
              .inNamespace(namespace)
              .inform(handler(listener)));
    }
  }

  private static ResourceEventHandler<GenericKubernetesResource> handler(Listener listener) {
    return new ResourceEventHandler<>() {
      @Override
      public void onAdd(GenericKubernetesResource object) {
        listener.changed(object, false);
      }

      @Override
      public void onUpdate(GenericKubernetesResource before, GenericKubernetesResource object) {
        listener.changed(object, false);
      }

      @Override
      public void onDelete(GenericKubernetesResource object, boolean unknown) {
        listener.changed(object, true);
      }
    };
  }

  /** Some object of a kind, if there is one. */
  Optional<GenericKubernetesResource> any(JobKind kind, Random random) {
    List<GenericKubernetesResource> objects = all(kind);
    return objects.isEmpty()
        ? Optional.empty()
        : Optional.of(objects.get(random.nextInt(objects.size())));
  }

  /** Some object of any kind that has some. */
  Optional<GenericKubernetesResource> any(Random random) {
    List<JobKind> kinds = informers.keySet().stream().filter(kind -> !all(kind).isEmpty()).toList();
    return kinds.isEmpty()
        ? Optional.empty()
        : any(kinds.get(random.nextInt(kinds.size())), random);
  }

  /** All objects of a kind, by name. */
  List<GenericKubernetesResource> all(JobKind kind) {
    SharedIndexInformer<GenericKubernetesResource> informer = informers.get(kind);
    return informer == null
        ? List.of()
        : informer.getStore().list().stream()
            .sorted(Comparator.comparing(object -> object.getMetadata().getName()))
            .toList();
  }

  /** The kinds. */
  List<JobKind> kinds() {
    return List.copyOf(informers.keySet());
  }

  @Override
  public void close() {
    informers.values().forEach(SharedIndexInformer::close);
  }
}
