/**
 * What the API types say about their schema beyond what the generator's own annotations can say.
 * Annotations and small constants may enter. They leave as parts of the generated custom resource
 * definitions.
 */
@NullMarked
package dev.sluice.api.schema;

import org.jspecify.annotations.NullMarked;
