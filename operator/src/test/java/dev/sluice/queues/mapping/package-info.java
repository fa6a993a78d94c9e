/** Tables of what people write and what the engine then knows. */
@NullMarked
package dev.sluice.queues.mapping;

import org.jspecify.annotations.NullMarked;
