/** Tables of what people write and what the engine then knows. */
@NullMarked
package dev.sluice.controllers.translation;

import org.jspecify.annotations.NullMarked;
