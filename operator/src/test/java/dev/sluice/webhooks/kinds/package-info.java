/** Every rule of the webhooks, once kept and once broken. */
@NullMarked
package dev.sluice.webhooks.kinds;

import org.jspecify.annotations.NullMarked;
