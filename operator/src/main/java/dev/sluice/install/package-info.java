/**
 * Objects that a cluster needs in addition to the CustomResourceDefinitions: roles, webhook
 * configurations, and the Deployment. Input: a namespace or an address. Output: objects, for {@code
 * --install} and for the shipped manifests.
 */
@NullMarked
package dev.sluice.install;

import org.jspecify.annotations.NullMarked;
