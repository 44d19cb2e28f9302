import { askPublisher, refuse } from './refuse.ts'

/** Variables that decide what a shell, a loader, an interpreter or a package manager runs or trusts. */
const controlling = new Set(
  `PATH PATHEXT COMSPEC SYSTEMROOT WINDIR SHELL IFS BASH_ENV BASHOPTS SHELLOPTS PROMPT_COMMAND PS4 CDPATH ZDOTDIR
  HOME USERPROFILE APPDATA LOCALAPPDATA PROGRAMDATA XDG_CONFIG_HOME XDG_DATA_HOME XDG_CONFIG_DIRS XDG_DATA_DIRS
  TMPDIR TEMP TMP EDITOR VISUAL PAGER BROWSER SUDO_ASKPASS SSH_ASKPASS
  GCONV_PATH GLIBC_TUNABLES LOCPATH NLSPATH HOSTALIASES RESOLV_HOST_CONF LOCALDOMAIN
  NODE_OPTIONS NODE_PATH NODE_EXTRA_CA_CERTS NODE_TLS_REJECT_UNAUTHORIZED NODE_REPL_EXTERNAL_MODULE
  NODE_COMPILE_CACHE NODE_V8_COVERAGE NODE_USE_ENV_PROXY OPENSSL_CONF OPENSSL_MODULES OPENSSL_ENGINES SSLKEYLOGFILE
  ELECTRON_RUN_AS_NODE SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE CURL_HOME WGETRC
  VIRTUAL_ENV CONDA_PREFIX CLASSPATH JAVA_HOME JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS
  RUBYOPT RUBYLIB GEM_HOME GEM_PATH BUNDLE_GEMFILE PERL5OPT PERL5LIB PERL5DB PERLLIB
  LUA_PATH LUA_CPATH LUA_INIT MAVEN_OPTS GRADLE_OPTS LESSOPEN LESSCLOSE PHPRC PHP_INI_SCAN_DIR COREPACK_NPM_REGISTRY`.split(
    /\s+/,
  ),
)
const controllingPrefix =
  /^(?:LD|DYLD|LIBPATH|NPM_CONFIG|YARN|PNPM|BUN|DENO|UV|PIP|PIPX|POETRY|COR|CORECLR|COMPLUS|CARGO|RUSTUP|RUSTC|GIT_CONFIG|BASH_FUNC)(?:_|$)/
const controllingTools =
  /^(?:DOCKER_(?:HOST|CONFIG|CONTEXT|CERT_PATH|TLS.*|CONTENT_TRUST.*)|CONTAINER_(?:HOST|CONNECTION|SSHKEY)|CONTAINERS_.*|GIT_(?:SSH.*|EXEC_PATH|TEMPLATE_DIR|ASKPASS|EDITOR|SEQUENCE_EDITOR|PAGER|EXTERNAL_DIFF|PROXY_COMMAND|DIR)|DOTNET_(?:STARTUP_HOOKS|ROOT.*|ADDITIONAL_DEPS|SHARED_STORE|CLI_HOME)|NUGET_(?:PACKAGES|PLUGIN.*|CREDENTIALPROVIDER.*))$/
/** Of the variables of Python, these change neither modules nor code. */
const harmlessPython = new Set([
  'PYTHONUNBUFFERED',
  'PYTHONIOENCODING',
  'PYTHONUTF8',
  'PYTHONDONTWRITEBYTECODE',
])

/** True for a variable that a server must not set on its user's machine, in any case of letters. */
export function controlsProcess(name: string): boolean {
  const upper = name.toUpperCase()
  if (/^PYTHON[A-Z]/.test(upper)) return !harmlessPython.has(upper)
  return controlling.has(upper) || controllingPrefix.test(upper) || controllingTools.test(upper)
}

/** Throws Failure `not_installable` for a variable that decides what else runs. */
export function checkVariableName(name: string, pointer: string): void {
  if (!controlsProcess(name)) return
  throw refuse(
    pointer,
    `The environment variable ${shown(name)} decides what else runs on your machine.`,
    askPublisher,
  )
}

/** True for a name that shells and processes take as a variable. */
export function isVariableName(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]{0,199}$/.test(name)
}

const reservedHeader =
  /^(?:host|connection|content-length|content-type|transfer-encoding|te|trailer|upgrade|keep-alive|expect|accept|mcp-session-id|mcp-protocol-version|proxy-.*|sec-.*)$/i

/** Throws Failure `not_installable` for a header that is not a name, or that belongs to the transport. */
export function checkHeaderName(name: string, pointer: string): void {
  if (!/^[A-Za-z0-9!#%&*+.^_|~-]{1,200}$/.test(name)) {
    throw refuse(pointer, 'This is not the name of a header.', askPublisher)
  }
  if (reservedHeader.test(name)) {
    throw refuse(pointer, `The header ${name} belongs to the transport.`, askPublisher)
  }
}

function shown(name: string): string {
  return name.slice(0, 60)
}
