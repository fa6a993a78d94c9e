package dev.sluice.testing;

import dev.sluice.lab.audit.AuditedKind;
import dev.sluice.lab.audit.ObjectChange;
import dev.sluice.lab.controlplane.FakeNodes;
import dev.sluice.lab.controlplane.NodeGroup;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.readiness.Readiness;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.UnaryOperator;
import org.awaitility.Awaitility;

/**
 * One test's share of a control plane: a namespace of its own, and a suffix that makes names of
 * cluster-wide objects unique. What was made through it is deleted when the test ends.
 */
public final class TestCluster implements AutoCloseable {

  private static final Duration LIMIT = Duration.ofMinutes(5);

  private final RunningControlPlane running;
  private final String suffix;
  private final List<HasMetadata> made = Collections.synchronizedList(new ArrayList<>());

  private TestCluster(RunningControlPlane running, String suffix) {
    this.running = running;
    this.suffix = suffix;
  }

  static TestCluster in(RunningControlPlane running) {
    TestCluster cluster = new TestCluster(running, Suffixes.next());
    cluster.createNamespace("test");
    return cluster;
  }

  /** A client with all rights; don't close it. */
  public KubernetesClient client() {
    return running.client();
  }

  /** A kubeconfig with all rights. */
  public Path kubeconfig() {
    return running.controlPlane().kubeconfig();
  }

  /** The test's namespace; it exists, and pods can be made in it where controllers run. */
  public String namespace() {
    return name("test");
  }

  /** The events of the namespace. */
  public List<Event> events() {
    return client().events().v1().events().inNamespace(namespace()).list().getItems();
  }

  /**
   * Of a history those changes that are of objects of this class: a control plane that tests share
   * has objects of others, which may be half deleted.
   */
  public List<ObjectChange> own(List<ObjectChange> history) {
    return history.stream()
        .filter(
            change ->
                change.kind() == AuditedKind.CLUSTER_QUEUE
                    ? change.object().at("/metadata/name").asText().endsWith(suffix)
                    : change.object().at("/metadata/namespace").asText().equals(namespace()))
        .toList();
  }

  /** The stem with the test's suffix: a name that no other test uses. */
  public String name(String stem) {
    return stem + "-" + suffix;
  }

  /** Makes a further namespace, named {@code name(stem)}, and returns its name. */
  public String createNamespace(String stem) {
    String name = name(stem);
    create(new NamespaceBuilder().withNewMetadata().withName(name).endMetadata().build());
    if (!running.controllers()) {
      return name;
    }
    Awaitility.await("default service account of " + name)
        .atMost(LIMIT)
        .until(
            () -> client().serviceAccounts().inNamespace(name).withName("default").get() != null);
    return name;
  }

  /**
   * Makes nodes, and waits until they are ready. Where tests share an operator they share nodes,
   * too: those of an earlier group that differs by its name alone are given then, and they stay.
   */
  public List<Node> createNodes(NodeGroup group) {
    return running
        .sharedNodes()
        .map(shared -> shared.of(group, it -> ready(it, node -> client().resource(node).create())))
        .orElseGet(() -> ready(group, this::create));
  }

  private List<Node> ready(NodeGroup group, UnaryOperator<Node> make) {
    List<Node> nodes = FakeNodes.of(group).stream().map(make).toList();
    for (Node node : nodes) {
      Awaitility.await("readiness of " + node.getMetadata().getName())
          .atMost(LIMIT)
          .until(() -> Readiness.getInstance().isReady(client().resource(node).get()));
    }
    return nodes;
  }

  /** Makes an object, and deletes it when the test ends; returns it as the server has it. */
  public <T extends HasMetadata> T create(T object) {
    T created = client().resource(object).create();
    made.add(created);
    return created;
  }

  /**
   * Makes or changes the objects of a YAML resource that stands beside the given class. {@code
   * ${namespace}} and {@code ${suffix}} in it are replaced; an object of a namespaced kind that
   * names no namespace goes into the test's. Objects of a {@code generateName} are always made.
   *
   * @return the objects as the server has them, in the order of the resource
   */
  public List<HasMetadata> apply(Class<?> beside, String resource) {
    return applyText(read(beside, resource));
  }

  /** The same with the YAML itself. */
  public List<HasMetadata> applyText(String yaml) {
    String text = yaml.replace("${namespace}", namespace()).replace("${suffix}", suffix);
    return client()
        .load(new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)))
        .items()
        .stream()
        .map(this::apply)
        .toList();
  }

  private HasMetadata apply(HasMetadata object) {
    Resource<HasMetadata> resource =
        object.getMetadata().getNamespace() == null
            ? client().resource(object).inNamespace(namespace())
            : client().resource(object);
    HasMetadata applied =
        object.getMetadata().getName() == null ? resource.create() : applied(resource);
    made.add(applied);
    return applied;
  }

  /** Applies an object, once more where the API server had no review in time. */
  private static HasMetadata applied(Resource<HasMetadata> resource) {
    var writer = resource.fieldManager("test").forceConflicts();
    try {
      return writer.serverSideApply();
    } catch (KubernetesClientException e) {
      String message = String.valueOf(e.getMessage());
      if (!message.contains("context deadline exceeded")
          && !message.contains("the request was not reviewed")) {
        throw e;
      }
      return writer.serverSideApply();
    }
  }

  private static String read(Class<?> beside, String resource) {
    try (InputStream in = beside.getResourceAsStream(resource)) {
      if (in == null) {
        throw new IllegalArgumentException("no resource " + resource + " beside " + beside);
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Deletes what was made, last first, without waiting until it is gone. */
  @Override
  public void close() {
    made.reversed().forEach(object -> client().resource(object).delete());
  }
}
