package dev.sluice.app.module;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.api.config.Configuration;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.client.ApiClient.WriteLatency;
import dev.sluice.kube.client.ClientConfigs;
import dev.sluice.kube.client.RequestLimiter;
import dev.sluice.kube.client.WriteGate;
import dev.sluice.kube.reflect.InformerSupervisor;
import dev.sluice.kube.reflect.ReadErrorLog;
import dev.sluice.kube.reflect.TolerantDeserializers;
import dev.sluice.metrics.ApiRequestMetrics;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.KubernetesResource;
import io.fabric8.kubernetes.api.model.LimitRange;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.Status;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.node.v1.RuntimeClass;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.RequestConfigBuilder;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.fabric8.kubernetes.client.vertx.VertxHttpClientFactory;
import io.javaoperatorsdk.operator.Operator;
import io.javaoperatorsdk.operator.api.config.Cloner;
import io.javaoperatorsdk.operator.api.monitoring.Metrics;
import io.vertx.ext.web.client.WebClientOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.function.IntFunction;

/** Makes the operator's client of the API server. */
public final class KubernetesClients {

  /** Nobody reads managed fields, which are up to half of an object. */
  @JsonIgnoreProperties("managedFields")
  private abstract static class WithoutManagedFields {}

  /**
   * The kinds that events of a watch, or objects whose kind isn't known before, are read as at
   * once. Others are read as maps first. A client that finds its kinds by itself loads the classes
   * of all 400 that its libraries know, and keeps them.
   */
  private static final List<Class<? extends KubernetesResource>> READ =
      List.of(
          Status.class,
          Lease.class,
          LimitRange.class,
          Namespace.class,
          RuntimeClass.class,
          Secret.class);

  private KubernetesClients() {}

  /**
   * A client that drops managed fields: what it reads must never be written back whole.
   *
   * @param kubeconfig where the cluster is; otherwise found as any client finds it
   * @param requests counts what is asked
   * @param errors is told of objects that can't be read
   * @throws IOException when the kubeconfig can't be read
   */
  public static KubernetesClient forOperator(
      Optional<Path> kubeconfig, ApiRequestMetrics requests, ReadErrorLog errors)
      throws IOException {
    return new KubernetesClientBuilder()
        .withConfig(ClientConfigs.of(kubeconfig))
        .withKubernetesSerialization(serialization(errors))
        .withHttpClientFactory(new CompressingVertx())
        .withHttpClientBuilderConsumer(
            builder -> builder.addOrReplaceInterceptor(ApiRequestMetrics.NAME, requests))
        .build();
  }

  /**
   * Clients for requests about single objects, each given how many requests it may have under way.
   * They share the configured rate and the gate of writes, and tell {@code latency} of these.
   */
  static IntFunction<ApiClient> requests(
      KubernetesClient client,
      Configuration.ClientConnection rate,
      WriteGate writes,
      WriteLatency latency) {
    RequestLimiter limiter = limiter(rate);
    return atATime ->
        new ApiClient(
            client,
            ApiClient.Options.atATime(atATime)
                .limitedBy(limiter)
                .writingThrough(writes)
                .timedBy(latency));
  }

  /** A limiter of this rate, for all clients that are given it. */
  static RequestLimiter limiter(Configuration.ClientConnection rate) {
    return new RequestLimiter(rate.qps(), rate.burst(), System::nanoTime);
  }

  /**
   * How the operator's client reads objects; {@code errors} is told of those that it can't read.
   */
  static KubernetesSerialization serialization(ReadErrorLog errors) {
    ObjectMapper mapper = new ObjectMapper(TolerantDeserializers.json());
    mapper.addMixIn(ObjectMeta.class, WithoutManagedFields.class);
    TolerantDeserializers.guard(mapper, errors);
    KubernetesSerialization serialization = new KubernetesSerialization(mapper, false);
    READ.forEach(serialization::registerKubernetesResource);
    return serialization;
  }

  /**
   * The client of an installer, over the same connections: it repeats requests that failed, because
   * applying an object twice does no harm.
   */
  public static KubernetesClient forInstaller(KubernetesClient client) {
    return client
        .newClient(
            new RequestConfigBuilder()
                .withRequestRetryBackoffLimit(Config.DEFAULT_REQUEST_RETRY_BACKOFFLIMIT)
                .build())
        .adapt(KubernetesClient.class);
  }

  /**
   * The framework of reconcilers. Objects are handed out as they are in the cache: nobody changes
   * them. A first listing that fails is repeated. A watch that ends by itself makes the process
   * unhealthy.
   *
   * @param cacheSyncTimeout how long first listings may take
   * @param metrics measures the reconcilers
   */
  public static Operator framework(
      KubernetesClient client,
      InformerSupervisor informerSupervisor,
      Duration cacheSyncTimeout,
      Metrics metrics) {
    return new Operator(
        settings ->
            settings
                .withKubernetesClient(client)
                .withCloseClientOnStop(false)
                .withStopOnInformerErrorDuringStartup(false)
                .withCacheSyncTimeout(cacheSyncTimeout)
                .withMetrics(metrics)
                .withResourceCloner(new IdentityCloner())
                .withInformerStoppedHandler(
                    (informer, cause) -> {
                      if (cause != null) {
                        informerSupervisor.ended(informer.getApiTypeClass().getSimpleName(), cause);
                      }
                    })
                .withExecutorService(Executors.newVirtualThreadPerTaskExecutor()));
  }

  /** Lists shrink to a fraction on the wire, which is worth more than it costs to unpack. */
  private static final class CompressingVertx extends VertxHttpClientFactory {
    @Override
    protected void additionalConfig(WebClientOptions options) {
      options.setTryUseCompression(true);
    }
  }

  /**
   * Hands objects of a cache out as they are. For operators whose reconcilers change nothing that
   * they are given.
   */
  private static final class IdentityCloner implements Cloner {

    @Override
    public <R extends HasMetadata> R clone(R object) {
      return object;
    }
  }
}
