package dev.sluice.kube.definitions;

import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Reads what the API server says of a CustomResourceDefinition. */
public final class DefinitionConditions {

  private DefinitionConditions() {}

  /**
   * Whether the API server serves the definition's kind. False for a definition that doesn't exist,
   * or that is so new that it has no status or no conditions yet.
   */
  public static boolean isEstablished(@Nullable CustomResourceDefinition definition) {
    return Optional.ofNullable(definition).map(CustomResourceDefinition::getStatus).stream()
        .flatMap(status -> Stream.ofNullable(status.getConditions()))
        .flatMap(List::stream)
        .anyMatch(each -> each.getType().equals("Established") && each.getStatus().equals("True"));
  }
}
