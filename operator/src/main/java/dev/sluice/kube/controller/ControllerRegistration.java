package dev.sluice.kube.controller;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.kube.reflect.TolerantDeserializers.UnreadableMetadata;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.javaoperatorsdk.operator.Operator;
import io.javaoperatorsdk.operator.processing.retry.GenericRetry;
import java.time.Duration;
import java.util.Objects;
import java.util.OptionalInt;

/** How reconcilers are registered: which events reach them, and how they are tried again. */
public final class ControllerRegistration {

  /** Objects that one page of a listing holds. */
  private static final long PAGE = 500;

  private static final Duration LONGEST_PAUSE_OF_RETRIES = Duration.ofSeconds(30);

  private ControllerRegistration() {}

  /**
   * Registers a reconciler under a name of its own; its informer fills {@code store}.
   *
   * @param limit how many objects are reconciled at a time; empty: any number
   */
  public static <P extends HasMetadata> void register(
      Operator operator,
      String name,
      LeaderAwareReconciler<P> reconciler,
      ObservableItemStore<P> store,
      OptionalInt limit) {
    limit.ifPresent(reconciler::limitConcurrency);
    operator.register(
        reconciler,
        configuration ->
            configuration
                .withName(name)
                .withItemStore(store)
                .withInformerListLimit(PAGE)
                .withGenericFilter(object -> !UnreadableMetadata.is(object))
                .withGenerationAware(false)
                .withTriggerReconcilerOnAllEvents(true)
                .withOnUpdateFilter(ControllerRegistration::matters)
                .withRetry(
                    new GenericRetry()
                        .withoutMaxAttempts()
                        .setMaxInterval(LONGEST_PAUSE_OF_RETRIES.toMillis())));
  }

  /** Whether an update is anything but an echo of what the operator wrote itself. */
  private static boolean matters(HasMetadata now, HasMetadata before) {
    return !Objects.equals(now.getMetadata().getGeneration(), before.getMetadata().getGeneration())
        || now.getMetadata().getGeneration() == null
        || !Objects.equals(now.getMetadata().getUid(), before.getMetadata().getUid())
        || now.isMarkedForDeletion() != before.isMarkedForDeletion()
        || FinalizerEditor.present(before) && !FinalizerEditor.present(now);
  }

  /** The finalizer that holds an object while it is in use. */
  public static final class FinalizerEditor {

    private FinalizerEditor() {}

    /** Whether the object carries it. */
    public static boolean present(HasMetadata object) {
      return object.getMetadata().getFinalizers().contains(KueueConstants.RESOURCE_IN_USE);
    }

    /** The merge patch that puts it on, for exactly this version of the object. */
    public static ObjectNode add(HasMetadata object) {
      return patch(object, true);
    }

    /** The merge patch that takes it off, for exactly this version of the object. */
    public static ObjectNode remove(HasMetadata object) {
      return patch(object, false);
    }

    private static ObjectNode patch(HasMetadata object, boolean wanted) {
      ArrayNode finalizers = JsonNodeFactory.instance.arrayNode();
      object.getMetadata().getFinalizers().stream()
          .filter(finalizer -> !finalizer.equals(KueueConstants.RESOURCE_IN_USE))
          .forEach(finalizers::add);
      if (wanted) {
        finalizers.add(KueueConstants.RESOURCE_IN_USE);
      }
      ObjectNode metadata = JsonNodeFactory.instance.objectNode();
      metadata.put("resourceVersion", object.getMetadata().getResourceVersion());
      metadata.set("finalizers", finalizers);
      return JsonNodeFactory.instance.objectNode().set("metadata", metadata);
    }
  }
}
