# The image of bisect, as docs/container.md describes it. Two images come from here:
#   docker build --tag bisect .                         the usual one
#   docker build --tag bisect-ray --target ray .        with Ray, for docs/ray-on-kubernetes.md
# `python -m tests.image` carries out these steps in a clean root where no container engine runs, so keep to what it knows:
# ARG, FROM, RUN, COPY, ENV, LABEL, WORKDIR, USER, VOLUME, HEALTHCHECK, STOPSIGNAL, ENTRYPOINT, CMD, SHELL.

# The digest is that of the index of all platforms, as docker-library/repo-info on GitHub lists it for this tag.
FROM debian:bookworm-20260918-slim@sha256:3783cc01769c7b2b1b83a5c5ad96c815348e28ed7da68e2e3687004faa906251 AS base
SHELL ["/bin/bash", "-o", "pipefail", "-e", "-u", "-c"]
# The versions are those of the Debian release, with its security updates: a pinned one would be gone after the next of these.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates python3 \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old /var/log/apt /var/log/dpkg.log /var/log/alternatives.log


FROM base AS packages
# hadolint ignore=DL3008
RUN apt-get update && apt-get install --yes --no-install-recommends python3-venv && rm -rf /var/lib/apt/lists/*
WORKDIR /source
# One environment that installs, with pip and the build backend, and one that is taken over, without them.
COPY deploy/image/build.lock deploy/image/
RUN python3 -m venv /tools \
    && /tools/bin/pip install --no-cache-dir --disable-pip-version-check --require-hashes --requirement deploy/image/build.lock \
    && python3 -m venv --without-pip /opt/bisect
# uv is among these, in the version and with the hashes of the lock file. The tests of numpy and scipy are 68 MB that nobody imports.
COPY requirements.lock ./
COPY deploy/image/shared.lock deploy/image/
RUN /tools/bin/pip --python /opt/bisect/bin/python install --no-cache-dir --disable-pip-version-check --no-deps --require-hashes \
        --requirement requirements.lock --requirement deploy/image/shared.lock \
    && find /opt/bisect/lib/python3.11/site-packages/numpy /opt/bisect/lib/python3.11/site-packages/scipy \
        -type d -name tests -prune -exec rm -rf '{}' +
COPY pyproject.toml README.md LICENSE ./
COPY bisect_tool bisect_tool
RUN /tools/bin/pip wheel --no-cache-dir --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir /wheel . \
    && /tools/bin/pip --python /opt/bisect/bin/python install --no-cache-dir --disable-pip-version-check --no-deps /wheel/*.whl


FROM packages AS packages-with-ray
COPY deploy/image/ray.lock deploy/image/
RUN /tools/bin/pip --python /opt/bisect/bin/python install --no-cache-dir --disable-pip-version-check --no-deps --require-hashes \
        --requirement deploy/image/ray.lock


FROM base AS system
# A C++ compiler for Inductor on the CPU, a C compiler and Python's header files for Triton's launchers, git for the commits
# between two builds, tini to pass on signals and to reap what the trials leave behind.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends bubblewrap g++ git libpython3.11-dev tini \
    && rm -f /usr/lib/python3.11/config-*/libpython*.a /usr/lib/*/libpython*.a \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old /var/log/apt /var/log/dpkg.log /var/log/alternatives.log
# Group 0 may write whatever this user may, for platforms that run an image under a uid of their own with that group.
RUN useradd --uid 10001 --gid 0 --create-home --home-dir /home/bisect --shell /usr/sbin/nologin bisect \
    && mkdir /cache /specs /results /wheels \
    && chown 10001:0 /cache /results \
    && chmod 2775 /cache /results \
    && chmod -R g=u /home/bisect
# Everything that grows lies on the volume: uv's cache, and the Pythons that it fetches where a spec asks for another one. The
# root can be read-only then, with a /tmp that can be written.
# NVIDIA's container runtime brings the driver's libraries and nvidia-smi when it finds these two; the CUDA libraries come with torch.
ENV PATH=/opt/bisect/bin:/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin \
    HOME=/home/bisect \
    LANG=C.UTF-8 \
    PYTHONUNBUFFERED=1 \
    BISECT_CACHE=/cache \
    UV_CACHE_DIR=/cache/uv \
    UV_PYTHON_INSTALL_DIR=/cache/python \
    NVIDIA_VISIBLE_DEVICES=all \
    NVIDIA_DRIVER_CAPABILITIES=compute,utility
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="bisect" \
      org.opencontainers.image.description="Finds the first build in which a failure appeared or was fixed" \
      org.opencontainers.image.licenses="BSD-3-Clause" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.base.name="debian:bookworm-20260918-slim" \
      org.opencontainers.image.base.digest="sha256:3783cc01769c7b2b1b83a5c5ad96c815348e28ed7da68e2e3687004faa906251"
VOLUME ["/cache"]
WORKDIR /specs
# Neither asks a server nor touches the cache of a run: the program starts, and the volume can be written.
HEALTHCHECK --interval=60s --timeout=10s --start-period=10s --retries=3 CMD ["/bin/sh", "-c", "test -w \"$BISECT_CACHE\" && bisect --version"]
# bisect ends its trials and exits with status 130; what had finished is stored. Where the engine's own init is used as well
# (`--init`), tini is not process 1 and reaps as a subreaper.
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/bin/tini", "-s", "--", "bisect"]
CMD ["--help"]


FROM system AS ray
# hadolint ignore=DL3008
RUN apt-get update && apt-get install --yes --no-install-recommends wget && rm -rf /var/lib/apt/lists/* /var/log/apt /var/log/dpkg.log
COPY --from=packages-with-ray /opt/bisect /opt/bisect
USER 10001:0


FROM system AS bisect
COPY --from=packages /opt/bisect /opt/bisect
USER 10001:0
