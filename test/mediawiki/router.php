<?php
// For `php -S`: sends what a web server would send to MediaWiki's entry points.
$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
foreach (['/api.php', '/index.php'] as $script) {
    if ($path !== $script && !str_starts_with($path, "$script/")) continue;
    $_SERVER['SCRIPT_NAME'] = $script;
    $_SERVER['SCRIPT_FILENAME'] = $_SERVER['DOCUMENT_ROOT'] . $script;
    $_SERVER['PATH_INFO'] = substr($path, strlen($script));
    require $_SERVER['SCRIPT_FILENAME'];
    return true;
}
http_response_code(404);
