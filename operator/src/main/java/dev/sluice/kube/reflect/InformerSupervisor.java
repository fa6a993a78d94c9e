package dev.sluice.kube.reflect;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps informers going: each is begun again after any failure, with growing pauses, until it is
 * stopped. One that has ended all the same is known as dead. Usable from any thread.
 */
public final class InformerSupervisor {

  private static final Logger LOG = LoggerFactory.getLogger(InformerSupervisor.class);

  private final Set<String> ended = ConcurrentHashMap.newKeySet();

  /**
   * Keeps an informer going.
   *
   * @param name for people
   * @param informer not started yet
   * @return the informer
   */
  public <T extends HasMetadata> SharedIndexInformer<T> keep(
      String name, SharedIndexInformer<T> informer) {
    informer.exceptionHandler(
        (started, failure) -> {
          LOG.warn("watch={} again started={} reason=\"{}\"", name, started, failure.toString());
          return true;
        });
    var unused =
        informer
            .stopped()
            .whenComplete(
                (any, failure) -> {
                  if (failure != null) {
                    ended(name, failure);
                  }
                });
    return informer;
  }

  /** An informer has ended by itself, and nothing begins it again. */
  public void ended(String name, Throwable cause) {
    LOG.error("watch={} ended=true", name, cause);
    ended.add(name);
  }

  /** Whether none has ended by itself. */
  public boolean alive() {
    return ended.isEmpty();
  }
}
