/**
 * What a cluster needs besides the definitions of the API: roles, registrations of webhooks, and
 * the Deployment. The wish for a namespace or an address may enter. Objects leave, for {@code
 * --install} to apply and for the shipped manifests to be written from.
 */
@NullMarked
package dev.sluice.install;

import org.jspecify.annotations.NullMarked;
