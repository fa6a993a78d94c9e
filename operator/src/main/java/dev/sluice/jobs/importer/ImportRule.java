package dev.sluice.jobs.importer;

import java.util.Map;

/**
 * Which objects go to a LocalQueue.
 *
 * @param labels an object must have these
 * @param priorityClass the core PriorityClass that its pods must name; empty: any
 * @param localQueue the LocalQueue of the object's namespace; empty with {@code skip}
 * @param skip whether such objects are left alone
 */
public record ImportRule(
    Map<String, String> labels, String priorityClass, String localQueue, boolean skip) {

  public ImportRule {
    labels = Map.copyOf(labels);
  }

  boolean matches(Map<String, String> objectLabels, String objectPriorityClass) {
    return objectLabels.entrySet().containsAll(labels.entrySet())
        && (priorityClass.isEmpty() || priorityClass.equals(objectPriorityClass));
  }
}
