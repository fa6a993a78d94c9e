package dev.sluice.kube.reflect;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.informers.ExceptionHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class InformerSupervisorTest {

  private final CompletableFuture<Void> stopped = new CompletableFuture<>();
  private final List<ExceptionHandler> handlers = new ArrayList<>();
  private final InformerSupervisor supervisor = new InformerSupervisor();

  /** An informer of which only its end is known. */
  @SuppressWarnings("unchecked")
  private SharedIndexInformer<Pod> informer() {
    return (SharedIndexInformer<Pod>)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {SharedIndexInformer.class},
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case "exceptionHandler" -> {
                    handlers.add((ExceptionHandler) arguments[0]);
                    yield proxy;
                  }
                  case "stopped" -> stopped;
                  default -> throw new UnsupportedOperationException(method.getName());
                });
  }

  @Test
  void aWatchThatFailsIsStartedAgain() {
    supervisor.keep("pods", informer());

    IOException unreadable = new IOException("unreadable");
    assertThat(handlers).hasSize(1);
    assertThat(handlers.getFirst().retryAfterException(true, new UncheckedIOException(unreadable)))
        .isTrue();
    assertThat(handlers.getFirst().retryAfterException(false, new UncheckedIOException(unreadable)))
        .isTrue();
    assertThat(supervisor.alive()).isTrue();
  }

  @Test
  void aWatchThatEndsByItselfMakesTheProcessUnhealthy() {
    supervisor.keep("pods", informer());

    stopped.completeExceptionally(new IllegalStateException("no more"));

    assertThat(supervisor.alive()).isFalse();
  }

  @Test
  void aWatchThatIsStoppedOnPurposeDoesNot() {
    supervisor.keep("pods", informer());

    stopped.complete(null);

    assertThat(supervisor.alive()).isTrue();
  }
}
