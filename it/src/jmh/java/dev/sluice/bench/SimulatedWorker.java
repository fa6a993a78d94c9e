package dev.sluice.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** A worker cluster that admits every Workload at once and runs every Job for a while. */
final class SimulatedWorker {

  /** A change of an object, as a line of a watch. */
  record Change(long version, String line) {}

  private final ObjectMapper mapper = new ObjectMapper();
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Map<String, ObjectNode> objects = new TreeMap<>();
  private final Map<String, List<Change>> changes = new HashMap<>();
  private long version = 1;

  /** All objects of a resource, as a list. */
  String list(String resource) {
    lock.lock();
    try {
      ObjectNode list = JsonNodeFactory.instance.objectNode();
      list.put("kind", "List").put("apiVersion", "v1");
      list.putObject("metadata").put("resourceVersion", Long.toString(version));
      ArrayNode items = list.putArray("items");
      objects.forEach(
          (key, object) -> {
            if (key.startsWith(resource + "/")) {
              items.add(object);
            }
          });
      return list.toString();
    } finally {
      lock.unlock();
    }
  }

  /** What changed after a version; waits for a while if nothing did. */
  List<Change> after(String resource, long since, long millis) throws InterruptedException {
    lock.lock();
    try {
      long left = TimeUnit.MILLISECONDS.toNanos(millis);
      List<Change> news = news(resource, since);
      while (news.isEmpty() && left > 0) {
        left = changed.awaitNanos(left);
        news = news(resource, since);
      }
      return news;
    } finally {
      lock.unlock();
    }
  }

  private List<Change> news(String resource, long since) {
    List<Change> all = changes.getOrDefault(resource, List.of());
    int first = all.size();
    while (first > 0 && all.get(first - 1).version() > since) {
      first--;
    }
    return List.copyOf(all.subList(first, all.size()));
  }

  /** The version of the last change. */
  long version() {
    lock.lock();
    try {
      return version;
    } finally {
      lock.unlock();
    }
  }

  /** An object by {@code resource/namespace/name}. */
  Optional<String> get(String key) {
    lock.lock();
    try {
      return Optional.ofNullable(objects.get(key)).map(ObjectNode::toString);
    } finally {
      lock.unlock();
    }
  }

  /** Makes an object; empty if there is one. */
  Optional<String> create(String resource, String namespace, byte[] body) throws IOException {
    ObjectNode object = (ObjectNode) mapper.readTree(body);
    ObjectNode metadata = (ObjectNode) object.get("metadata");
    metadata.put("namespace", namespace).put("uid", UUID.randomUUID().toString());
    metadata.put("creationTimestamp", now());
    String key = resource + "/" + namespace + "/" + metadata.get("name").asText();
    lock.lock();
    try {
      if (objects.containsKey(key)) {
        return Optional.empty();
      }
      put("ADDED", resource, key, object);
      String made = object.toString();
      if (resource.equals("workloads")) {
        condition(key, "QuotaReserved", "QuotaReserved", "Quota is reserved");
        condition(key, "Admitted", "Admitted", "The workload is admitted");
      } else if (resource.equals("jobs")) {
        run(key, object);
      }
      return Optional.of(made);
    } finally {
      lock.unlock();
    }
  }

  private void run(String key, ObjectNode job) {
    String workload = workload(job);
    if (objects.get(workload) instanceof ObjectNode copy) {
      ObjectNode owned = copy.deepCopy();
      ObjectNode owner =
          ((ObjectNode) owned.get("metadata")).putArray("ownerReferences").addObject();
      owner.put("apiVersion", "batch/v1").put("kind", "Job").put("controller", true);
      owner.put("name", job.at("/metadata/name").asText());
      owner.put("uid", job.at("/metadata/uid").asText());
      put("MODIFIED", "workloads", workload, owned);
    }
    ObjectNode running = job.deepCopy();
    ((ObjectNode) running.get("spec")).put("suspend", false);
    running.putObject("status").put("active", 1).put("ready", 1).put("startTime", now());
    put("MODIFIED", "jobs", key, running);
  }

  /** The Job ends, and its Workload finishes. */
  void finish(String namespace, String name) {
    String key = "jobs/" + namespace + "/" + name;
    lock.lock();
    try {
      if (objects.get(key) instanceof ObjectNode job) {
        ObjectNode ended = job.deepCopy();
        ObjectNode status = (ObjectNode) ended.get("status");
        status.remove(List.of("active", "ready"));
        status.put("succeeded", 1).put("completionTime", now());
        ArrayNode conditions = status.putArray("conditions");
        for (String type : List.of("SuccessCriteriaMet", "Complete")) {
          conditions
              .addObject()
              .put("type", type)
              .put("status", "True")
              .put("reason", "CompletionsReached")
              .put("message", "Reached expected number of succeeded pods")
              .put("lastProbeTime", now())
              .put("lastTransitionTime", now());
        }
        put("MODIFIED", "jobs", key, ended);
        condition(
            workload(job), "Finished", "Succeeded", "Reached expected number of succeeded pods");
      }
    } finally {
      lock.unlock();
    }
  }

  private static String workload(ObjectNode job) {
    JsonNode metadata = job.get("metadata");
    return "workloads/"
        + metadata.get("namespace").asText()
        + "/"
        + metadata.path("annotations").path("kueue.x-k8s.io/prebuilt-workload-name").asText();
  }

  private void condition(String key, String type, String reason, String message) {
    if (objects.get(key) instanceof ObjectNode found) {
      ObjectNode object = found.deepCopy();
      object
          .withObjectProperty("status")
          .withArrayProperty("conditions")
          .addObject()
          .put("type", type)
          .put("status", "True")
          .put("reason", reason)
          .put("message", message)
          .put("lastTransitionTime", now());
      put("MODIFIED", "workloads", key, object);
    }
  }

  /** Merges a patch into an object; empty if there is none. */
  Optional<String> patch(String resource, String key, byte[] body) throws IOException {
    JsonNode patch = mapper.readTree(body);
    lock.lock();
    try {
      ObjectNode found = objects.get(key);
      if (found == null) {
        return Optional.empty();
      }
      ObjectNode object = found.deepCopy();
      merge(object, patch);
      put("MODIFIED", resource, key, object);
      return Optional.of(object.toString());
    } finally {
      lock.unlock();
    }
  }

  private static void merge(ObjectNode target, JsonNode patch) {
    patch
        .properties()
        .forEach(
            field -> {
              if (field.getValue().isNull()) {
                target.remove(field.getKey());
              } else if (field.getValue().isObject()) {
                merge(target.withObjectProperty(field.getKey()), field.getValue());
              } else {
                target.set(field.getKey(), field.getValue());
              }
            });
  }

  /** Deletes an object; empty if there is none. */
  Optional<String> delete(String resource, String key) {
    lock.lock();
    try {
      ObjectNode found = objects.remove(key);
      if (found != null) {
        put("DELETED", resource, key, found.deepCopy());
      }
      return Optional.ofNullable(found).map(ObjectNode::toString);
    } finally {
      lock.unlock();
    }
  }

  private void put(String type, String resource, String key, ObjectNode object) {
    version++;
    ((ObjectNode) object.get("metadata")).put("resourceVersion", Long.toString(version));
    if (!type.equals("DELETED")) {
      objects.put(key, object);
    }
    String line = "{\"type\":\"" + type + "\",\"object\":" + object + "}\n";
    changes.computeIfAbsent(resource, any -> new ArrayList<>()).add(new Change(version, line));
    changed.signalAll();
  }

  private static String now() {
    return Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
  }
}
