/** The mappers that read and write JSON and YAML trees, and the reading of untrusted fields. */
@NullMarked
package dev.sluice.api.json;

import org.jspecify.annotations.NullMarked;
