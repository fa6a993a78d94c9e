/** Every rule of the webhooks, once kept and once broken. */
@NullMarked
package dev.sluice.webhooks;

import org.jspecify.annotations.NullMarked;
