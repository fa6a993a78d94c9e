package dev.sluice.install;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.kube.reflect.Reflector;
import dev.sluice.kube.reflect.Reflectors;
import dev.sluice.visibility.api.VisibilityApi;
import dev.sluice.webhooks.registration.WebhookConfigurations;
import java.io.IOException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * Follows, by watches of single objects, what the operator needs in the cluster and what somebody
 * may delete or change there. Each watch that isn't permitted is tried again with growing pauses.
 */
public final class InstallationWatch implements AutoCloseable {

  private static final String ADMISSION = "apis/admissionregistration.k8s.io/v1/";
  private static final String REGISTRATION = "apis/apiregistration.k8s.io/v1/";
  private static final String RBAC = "apis/rbac.authorization.k8s.io/v1/";
  private static final String ROLE = "kueue-manager-role";
  private static final String BINDING = "kueue-manager-rolebinding";

  private final Reflectors reflectors;
  private final List<Reflector<WatchedObjects.Seen>> readers = new ArrayList<>();

  /** Nothing is followed yet. */
  public InstallationWatch(Reflectors reflectors) {
    this.reflectors = reflectors;
  }

  /** Tells of each change of the webhook registrations, and whether they exist. */
  public void registrations(Runnable changed) {
    follow(
        "mutating-registration",
        ADMISSION + "mutatingwebhookconfigurations" + named(WebhookConfigurations.MUTATING),
        any -> changed.run());
    follow(
        "validating-registration",
        ADMISSION + "validatingwebhookconfigurations" + named(WebhookConfigurations.VALIDATING),
        any -> changed.run());
  }

  /** Tells of each change of the APIServices of the visibility API. */
  public void services(Runnable changed) {
    for (String version : VisibilityApi.VERSIONS) {
      String name = version + "." + VisibilityApi.GROUP;
      follow(name, REGISTRATION + "apiservices" + named(name), any -> changed.run());
    }
  }

  /** Tells at each change whether the Secret exists. */
  public void secret(String namespace, String name, Consumer<Boolean> exists) {
    follow(
        "certificate-secret",
        "api/v1/namespaces/" + namespace + "/secrets" + named(name),
        found -> exists.accept(!found.isEmpty()));
  }

  /** Tells at each change which of the operator's role and its binding is missing. */
  public void roles(Consumer<Optional<String>> missing) {
    RoleState state = new RoleState(missing);
    follow(
        "manager-role",
        RBAC + "clusterroles" + named(ROLE),
        found -> state.role("ClusterRole " + ROLE, found.isEmpty()));
    follow(
        "manager-rolebinding",
        RBAC + "clusterrolebindings" + named(BINDING),
        found -> state.binding("ClusterRoleBinding " + BINDING, found.isEmpty()));
  }

  private static final class RoleState {
    private final Consumer<Optional<String>> told;
    private Optional<String> role = Optional.empty();
    private Optional<String> binding = Optional.empty();

    RoleState(Consumer<Optional<String>> told) {
      this.told = told;
    }

    synchronized void role(String name, boolean isMissing) {
      role = Optional.of(name).filter(any -> isMissing);
      told.accept(role.or(() -> binding));
    }

    synchronized void binding(String name, boolean isMissing) {
      binding = Optional.of(name).filter(any -> isMissing);
      told.accept(role.or(() -> binding));
    }
  }

  /**
   * Tells at each change whether the Service leads to this process. An endpoint that names no pod
   * is nobody's for certain, so that it may be this process's. Endpoints of pods that aren't ready
   * count: readiness may depend on this.
   *
   * @param pod the name of the pod of this process
   * @param addresses those of this process
   */
  public void endpoints(
      String namespace,
      String service,
      String pod,
      Set<InetAddress> addresses,
      Consumer<Boolean> leadsHere) {
    follow(
        "webhook-endpoints",
        "apis/discovery.k8s.io/v1/namespaces/"
            + namespace
            + "/endpointslices?labelSelector=kubernetes.io%2Fservice-name%3D"
            + service,
        slice -> slice.path("endpoints"),
        slices -> leadsHere.accept(leadHere(slices, pod, addresses)));
  }

  static boolean leadHere(Map<String, JsonNode> slices, String pod, Set<InetAddress> addresses) {
    for (JsonNode endpoints : slices.values()) {
      for (JsonNode endpoint : endpoints) {
        if (!endpoint.has("targetRef")
            || endpoint.path("targetRef").path("name").asText().equals(pod)) {
          return true;
        }
        for (JsonNode address : endpoint.path("addresses")) {
          if (parsed(address.asText()).filter(addresses::contains).isPresent()) {
            return true;
          }
        }
      }
    }
    return false;
  }

  /** An IPv6 address has many texts; nothing is looked up. */
  private static Optional<InetAddress> parsed(String address) {
    try {
      return Optional.of(InetAddress.ofLiteral(address));
    } catch (IllegalArgumentException notAnAddress) {
      return Optional.empty();
    }
  }

  private static String named(String name) {
    return "?fieldSelector=metadata.name%3D" + name;
  }

  private void follow(String what, String path, Consumer<Map<String, JsonNode>> changed) {
    follow(what, path, any -> MissingNode.getInstance(), changed);
  }

  private void follow(
      String what,
      String path,
      UnaryOperator<JsonNode> kept,
      Consumer<Map<String, JsonNode>> changed) {
    Reflector<WatchedObjects.Seen> reader =
        reflectors.of(what, path, new WatchedObjects(kept, changed));
    readers.add(reader);
    var unused = reader.start();
  }

  /** Follows nothing any more. */
  @Override
  public void close() {
    readers.forEach(Reflector::close);
  }

  /**
   * Keeps a part of each object of a small collection, and tells of every change once the
   * collection was listed. Readable from any thread.
   */
  static final class WatchedObjects implements Reflector.Sink<WatchedObjects.Seen> {

    private final UnaryOperator<JsonNode> kept;
    private final Consumer<Map<String, JsonNode>> changed;
    private final Map<String, JsonNode> objects = new ConcurrentHashMap<>();
    private final Map<String, JsonNode> listing = new ConcurrentHashMap<>();
    private boolean lists;
    private boolean listed;

    /** An object by its name, and what is kept of it. */
    record Seen(String name, JsonNode part) {}

    /**
     * Nothing is kept yet.
     *
     * @param kept the part of an object that is kept
     * @param changed is given all objects by name after each change, on the thread that reads
     */
    WatchedObjects(UnaryOperator<JsonNode> kept, Consumer<Map<String, JsonNode>> changed) {
      this.kept = kept;
      this.changed = changed;
    }

    @Override
    public Seen parse(byte[] bytes, int offset, int length) throws IOException {
      JsonNode object = JsonMappers.JSON.readTree(bytes, offset, length);
      return new Seen(object.path("metadata").path("name").asText(), kept.apply(object));
    }

    @Override
    public void listingBegins() {
      listing.clear();
      lists = true;
    }

    @Override
    public void seen(Seen object) {
      if (lists) {
        listing.put(object.name(), object.part());
      } else {
        objects.put(object.name(), object.part());
        tell();
      }
    }

    @Override
    public void deleted(Seen last) {
      objects.remove(last.name());
      tell();
    }

    @Override
    public void listingEnds() {
      lists = false;
      listed = true;
      objects.clear();
      objects.putAll(listing);
      listing.clear();
      tell();
    }

    private void tell() {
      if (listed) {
        changed.accept(Map.copyOf(objects));
      }
    }
  }
}
